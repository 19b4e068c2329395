// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace prime {

/// Work spaces that many nodes share: there are as many as evaluations run at once, made when they
/// are first needed.
///
/// The work space of a mechanical model takes half a megabyte, what a node must keep of it a few
/// kilobytes: with one of its own for each node, a long recording would not fit into any cache, and
/// the pages of its memory would take longer to get than an iteration takes.
template <class T>
class WorkspacePool {
 public:
  /// A lease: a work space that is the holder's alone until it is destroyed.
  class Lease {
   public:
    template <class Make>
    Lease(WorkspacePool& pool, const Make& make) : pool_(pool) {
      {
        const std::lock_guard<std::mutex> lock(pool_.mutex_);
        if (!pool_.idle_.empty()) {
          item_ = std::move(pool_.idle_.back());
          pool_.idle_.pop_back();
        }
      }
      if (!item_) item_ = make();
    }
    ~Lease() {
      const std::lock_guard<std::mutex> lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(item_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *item_; }
    T* operator->() const { return item_.get(); }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<T> item_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>>
      idle_;  ///< the last one used is the next: it is still in the cache
};

}  // namespace prime
