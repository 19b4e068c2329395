// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "solver/solver_multiple_shooting.hpp"
#include "linalg/solve_error.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>

#include "nodes/action_arrival.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kMostDamping = 1e9;

int parametersOf(const crocoddyl::ShootingProblem& problem) {
  const auto* terminal = dynamic_cast<const ActionLeastSquares*>(problem.get_terminalModel().get());
  if (!terminal)
    throw std::invalid_argument("window problem: the nodes must be least-squares nodes");
  return terminal->np;
}

bool hasArrival(const crocoddyl::ShootingProblem& problem) {
  const auto& models = problem.get_runningModels();
  return !models.empty() && dynamic_cast<const ActionArrival*>(models.front().get());
}

}  // namespace

SolverMultipleShooting::SolverMultipleShooting(std::shared_ptr<crocoddyl::ShootingProblem> problem)
    : SolverAbstract(problem),
      free_(parametersOf(*problem)),
      np_(free_.size()),
      m_(static_cast<int>(problem->get_ndx()) - free_.all()),
      has_arrival_(hasArrival(*problem)),
      first_(m_, np_),
      arrival_(m_, free_),
      cost_try_(0.0),
      slope_(0.0),
      curvature_(0.0),
      gaps_(0.0),
      damping_(0.0),
      done_(Done::Nothing),
      refused_(0) {
  requireNodes();
  const auto T = problem_->get_T(), n = problem_->get_ndx();
  dxs_.assign(T + 1, VectorXd::Zero(n));
  fs_try_ = dxs_;
  xs_try_ = xs_;
  us_try_ = us_;
  deviation_ = dxs_[0];
  resize();
  for (const auto& model : problem_->get_runningModels())
    dus_.push_back(VectorXd::Zero(model->get_nu()));
  th_stop_ = 1e-9;
}

/// What has a column for each parameter that is solved for.
void SolverMultipleShooting::resize() {
  np_ = free_.size();
  values_.assign(problem_->get_T() + 1, CostToGo(m_, np_));
  common_ = {MatrixXd::Zero(np_, np_), VectorXd::Zero(np_)};
  first_ = Covariance(m_, np_);
  first_pp_ = MatrixXd::Zero(np_, np_);
  P_.clear();
  stages_.clear();
  arrival_ = ArrivalStep(m_, free_);
  if (largest_.size() > 0) arrival_.largest = free_.of(largest_);
  done_ = Done::Nothing;
}

void SolverMultipleShooting::setHeld(const std::vector<int>& parameters) {
  const FreeParameters free(free_.all(), parameters);
  if (free == free_) return;
  free_ = free;
  resize();
}

void SolverMultipleShooting::setLargestStep(const VectorXd& largest) {
  const int np = free_.all();
  if (largest.size() > 0 && (largest.size() != np || !(largest.array() > 0.0).all()))
    throw std::invalid_argument("trust region: the largest step of each of the " +
                                std::to_string(np) + " parameters must be positive");
  largest_ = largest;
  arrival_.largest = largest.size() > 0 ? free_.of(largest) : largest;
}

void SolverMultipleShooting::setBound(const int parameter, const double least, const double most) {
  const int np = free_.all();
  if (parameter < 0 || parameter >= np || !(least <= most))
    throw std::invalid_argument("window problem: a bound needs one of the " + std::to_string(np) +
                                " parameters, and no least value above the most");
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (least_.size() == 0) {
    least_ = VectorXd::Constant(np, -kNone);
    most_ = VectorXd::Constant(np, kNone);
  }
  least_[parameter] = least;
  most_[parameter] = most;
}

void SolverMultipleShooting::setLeftOpen(const std::vector<int>& components) {
  for (const int i : components)
    if (i < 0 || i >= m_)
      throw std::invalid_argument("window problem: the tangent of a state has no component " +
                                  std::to_string(i) + " in front of the parameters");
  left_open_ = components;
}

/// Of the step from the present parameters; behind an arrival node they also close their gap.
void SolverMultipleShooting::placeBounds() {
  if (least_.size() == 0) return;
  VectorXd present = xs_[has_arrival_].tail(free_.all());
  if (has_arrival_) present += fs_[1].tail(free_.all());
  arrival_.least = free_.of(least_ - present);
  arrival_.most = free_.of(most_ - present);
}

void SolverMultipleShooting::requireNodes() const {
  const auto& models = problem_->get_runningModels();
  if (hasArrival(*problem_) != has_arrival_)
    throw std::invalid_argument(
        "window problem: a solver is made for a window with an arrival node, or for one without");
  const auto isOne = [this](const auto& model) {
    const auto* node = dynamic_cast<const ActionLeastSquares*>(model.get());
    return node && int(node->np) == free_.all();
  };
  if (!std::all_of(models.begin() + has_arrival_, models.end(), isOne) ||
      !isOne(problem_->get_terminalModel()))
    throw std::invalid_argument(
        "window problem: the nodes must be least-squares nodes with the same parameters");
}

/// Nodes may have been exchanged since the last solve.
void SolverMultipleShooting::bind() {
  requireNodes();
  const auto& models = problem_->get_runningModels();
  stages_.resize(models.size());
  for (std::size_t t = 0; t < models.size(); ++t) {
    dus_[t].conservativeResize(models[t]->get_nu());
    if (t == 0 && has_arrival_) continue;
    if (!stages_[t] || !stages_[t]->fits(*models[t])) stages_[t] = Stage::make(*models[t], free_);
  }
}

const ArrivalStep::DataAbstract* SolverMultipleShooting::arrivalData() const {
  return has_arrival_ ? problem_->get_runningDatas().front().get() : nullptr;
}

/// Nodes are independent; an exception must not leave a parallel region, so the first one is
/// carried out of it.
template <class F>
void SolverMultipleShooting::forEachNode(const F& f) {
  const int T = problem_->get_T();
  std::exception_ptr error = nullptr;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic)
  for (int t = 0; t <= T; ++t) {
    try {
      f(t);
    } catch (...) {
#pragma omp critical
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

/// All nodes have the parameters of the first; without an arrival node the first state is the
/// problem's.
void SolverMultipleShooting::shareParameters() {
  const std::size_t first = has_arrival_;
  const int np = free_.all();
  if (!has_arrival_) {
    const int nx = xs_[0].size() - np;
    xs_[0].head(nx) = problem_->get_x0().head(nx);
  }
  for (std::size_t t = first + 1; t < xs_.size(); ++t) xs_[t].tail(np) = xs_[first].tail(np);
}

void SolverMultipleShooting::start(const std::vector<VectorXd>& xs, const std::vector<VectorXd>& us,
                                   const double regularization) {
  Eigen::setNbThreads(
      1);  // Eigen's own threads make small products slower by an order of magnitude
  done_ = Done::Nothing;
  bind();
  setCandidate(xs, us, false);
  shareParameters();
  beginIterations(std::isnan(regularization) ? 0.0 : regularization);
  refused_ = iter_ = 0;
  for (auto& f : fs_try_) f.setZero();
  if (rollout == Rollout::Single) {
    for (std::size_t t = 0; t < dus_.size(); ++t) dus_[t].setZero();
    for (auto& dx : dxs_) dx.setZero();
    for (std::size_t t = 0; t < dus_.size(); ++t) {
      const auto& model = problem_->get_runningModels()[t];
      model->calc(problem_->get_runningDatas()[t], xs_[t], us_[t]);
      xs_[t + 1] = problem_->get_runningDatas()[t]->xnext;
    }
  }
  cost_ = evaluate(xs_, us_);
  if (!std::isfinite(cost_))
    throw SolveError("window problem: the cost of the first trajectory is not finite");
  std::swap(fs_, fs_try_);
}

void SolverMultipleShooting::beginIterations(const double regularization) {
  preg_ = regularization;
  merit_function_.reset();
  arrival_.resetRegion();
}

double SolverMultipleShooting::evaluate(const std::vector<VectorXd>& xs,
                                        const std::vector<VectorXd>& us) {
  const std::size_t T = problem_->get_T();
  forEachNode([&](const std::size_t t) {
    if (t == T) {
      problem_->get_terminalModel()->calc(problem_->get_terminalData(), xs[T]);
    } else {
      const auto& data = problem_->get_runningDatas()[t];
      // after a full step the next state of a trial is the tangent prediction of this node's result
      if (t == 0 && has_arrival_)
        problem_->get_runningModels()[t]->calc(data, xs[t], us[t]);
      else
        stages_[t]->evaluate(*problem_->get_runningModels()[t], data, xs[t], us[t], xs[t + 1]);
      problem_->get_runningModels()[t]->get_state()->diff(xs[t + 1], data->xnext, fs_try_[t + 1]);
    }
  });
  return sumOfCosts();
}

double SolverMultipleShooting::sumOfCosts() const {
  double cost = problem_->get_terminalData()->cost;
  for (const auto& data : problem_->get_runningDatas()) cost += data->cost;
  return cost;
}

void SolverMultipleShooting::linearize() {
  const std::size_t T = problem_->get_T();
  forEachNode([&](const std::size_t t) {
    if (t == T)
      problem_->get_terminalModel()->calcDiff(problem_->get_terminalData(), xs_[T]);
    else if (t == 0 && has_arrival_)
      static_cast<ActionArrival&>(*problem_->get_runningModels()[0])
          .linearize(problem_->get_runningDatas()[0], us_[0]);
    else
      stages_[t]->linearize(*problem_->get_runningModels()[t], problem_->get_runningDatas()[t],
                            xs_[t], us_[t], reach);
  });
  done_ = Done::Linearization;
}

void SolverMultipleShooting::require(const Done done) const {
  if (done_ < done)
    throw std::logic_error(
        "window problem: there is no iteration yet whose step or covariances could be told");
}

bool SolverMultipleShooting::backward() {
  require(Done::Linearization);
  done_ = Done::Linearization;
  first_is_known_ = false;
  const std::size_t T = problem_->get_T(), first = has_arrival_;
  const auto& terminal = *problem_->get_terminalData();
  damping_ = preg_;
  closing_ = {};
  values_[T].xx = terminal.Lxx.topLeftCorner(m_, m_);
  const int np = free_.all();
  free_.columns(terminal.Lxx.topRightCorner(m_, np), values_[T].xp);
  values_[T].x = terminal.Lx.head(m_);
  common_.pp = free_.lowerOf(terminal.Lxx.bottomRightCorner(np, np));
  common_.p = free_.of(terminal.Lx.tail(np));
  for (std::size_t t = T; t-- > first;) {
    auto& next = values_[t + 1];
    const auto gap = fs_[t + 1].head(m_);  // parameters have none
    const double slope = next.x.dot(gap);
    next.x.noalias() += next.xx * gap;
    closing_.add(0.5 * (slope + next.x.dot(gap)));
    common_.p.noalias() += next.xp.transpose() * gap;
    if (!stages_[t]->eliminate(*problem_->get_runningDatas()[t], next, preg_, values_[t], common_))
      return false;
  }
  if (has_arrival_) {
    auto& next = values_[1];
    const auto gap = fs_[1].head(m_);
    const VectorXd gap_p = free_.of(fs_[1].tail(np));
    const double slope = next.x.dot(gap) + common_.p.dot(gap_p);
    next.x.noalias() += next.xx * gap + next.xp * gap_p;
    common_.p.noalias() +=
        next.xp.transpose() * gap + common_.pp.selfadjointView<Eigen::Lower>() * gap_p;
    closing_.add(0.5 * (slope + next.x.dot(gap) + common_.p.dot(gap_p)));
  }
  placeBounds();
  if (!arrival_.eliminate(arrivalData(), values_[first], common_, preg_, method)) return false;
  done_ = Done::Backward;
  return true;
}

/// With as much damping as it needs.
void SolverMultipleShooting::backwardDamped() {
  while (!backward()) {
    preg_ = std::max(10.0 * preg_, 1e-6);
    if (preg_ > kMostDamping)
      throw SolveError("window problem: the Hessian is not positive definite");
  }
}

/// Backward pass, then the full step.
void SolverMultipleShooting::computeDirection(const bool recalc) {
  if (recalc) linearize();
  backwardDamped();
  forward();
}

void SolverMultipleShooting::forward() {
  require(Done::Backward);
  const std::size_t T = problem_->get_T();
  DirectionalModel along;
  dxs_[0].setZero();
  if (has_arrival_) {
    arrival_.step(arrivalData(), fs_[1], dus_[0], dxs_[1], along);
  } else {
    VectorXd du;
    arrival_.step(nullptr, dxs_[0], du, dxs_[0], along);
  }
  for (std::size_t t = has_arrival_; t < T; ++t)
    stages_[t]->step(*problem_->get_runningDatas()[t], dxs_[t], fs_[t + 1], dus_[t], dxs_[t + 1],
                     along);
  const auto& d = static_cast<const ActionLeastSquares::Data&>(*problem_->get_terminalData());
  along.add(d.Rx * dxs_[T], d.r);
  slope_ = along.slope;
  curvature_ = along.curvature;
  gaps_ = sumOfGaps(fs_);
}

void SolverMultipleShooting::direction(const std::vector<VectorXd>& xs,
                                       const std::vector<VectorXd>& us,
                                       const double regularization) {
  start(xs, us, regularization);
  computeDirection(true);
}

void SolverMultipleShooting::redirect() {
  if (!backward()) throw SolveError("window problem: the Hessian is not positive definite");
  forward();
}

double SolverMultipleShooting::reweight(const HeavyTails& tails) {
  double changed = 0.0;
  for (std::size_t t = has_arrival_; t < problem_->get_T(); ++t) {
    const auto& data = problem_->get_runningDatas()[t];
    const double before = data->cost;
    static_cast<ActionLeastSquares&>(*problem_->get_runningModels()[t])
        .reweight(data, us_[t], tails);
    changed += std::abs(data->cost - before);
  }
  return changed;
}

void SolverMultipleShooting::rotate() {
  const auto models = problem_->get_runningModels();
  const auto datas = problem_->get_runningDatas();
  const std::size_t T = models.size(), first = has_arrival_;
  for (std::size_t t = first; t < T; ++t) {
    const std::size_t from = t + 1 < T ? t + 1 : first;
    problem_->updateNode(t, models[from], datas[from]);
  }
}

MatrixXd SolverMultipleShooting::residualSquares() const {
  const auto& datas = problem_->get_runningDatas();
  MatrixXd out = MatrixXd::Zero(datas.back()->r.size(), 2);
  for (std::size_t t = has_arrival_; t < datas.size(); ++t) {
    out.col(0) += datas[t]->r.cwiseAbs2();
    out.col(1) += (datas[t]->r.array() != 0.0).cast<double>().matrix();
  }
  return out;
}

MatrixXd SolverMultipleShooting::firstResiduals(const Eigen::Index size) const {
  const auto& datas = problem_->get_runningDatas();
  for (std::size_t t = has_arrival_; t < datas.size(); ++t)
    if (size < 0 || size > datas[t]->r.size())
      throw std::invalid_argument("window problem: a residual has " +
                                  std::to_string(datas[t]->r.size()) + " rows, not " +
                                  std::to_string(size));
  MatrixXd out(datas.size() - has_arrival_, size);
  for (std::size_t t = has_arrival_; t < datas.size(); ++t)
    out.row(t - has_arrival_) = datas[t]->r.head(size).transpose();
  return out;
}

double SolverMultipleShooting::largestGap() const {
  double gap = 0.0;
  for (std::size_t t = 1; t < fs_.size(); ++t)
    gap = std::max(gap, fs_[t].lpNorm<Eigen::Infinity>());
  return gap;
}

}  // namespace prime
