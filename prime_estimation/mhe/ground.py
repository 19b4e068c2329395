# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground height under each foot, a parameter of the window that is reset at each touch-down."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..config.policies import GROUND, INTERVAL, SOLE
from ..contact.detection import LoadHysteresis
from ..contact.footholds import Footholds, Slope
from ..contact.leg_forces import CLEARANCE
from ..contact.rising import Rising
from ..robot import GRAVITY
from ..sensors.frames import WorldMotion
from .creep import Creep
from .knowledge import keep_within, renew
from .landings import Landings
from .leaning import Leaning
from .load_by_motion import LoadByMotion
from .planes import Planes
from .problem import Problem
from .situation import Situation
from .slopes import Slopes
from .softness import Softness
from .soles import Soles
from .touchdowns import Touchdowns
from .window import Window


@dataclass
class _Feet:
    """Feet at the newest complete node, and the ground under them as it has been.

    Attributes:
        soles: (nf, 3) lowest points [m]. rates: (nf, 3) of them [m/s].
        points: (nf, 3) that touch the ground, where it slopes [m].
        above: (nf,) heights of these over the ground [m].
        normal: (nf,) forces [N], as torques or the motion say.
    """

    soles: np.ndarray
    rates: np.ndarray
    points: np.ndarray
    above: np.ndarray
    normal: np.ndarray


class Ground:
    """Follows touch-downs, and updates the ground heights of the window.

    A foot that touches down near its known ground height keeps that height (with a random walk), so
    that on level ground the height of the base does not drift. Elsewhere the ground gets the height
    of the foot, correlated with the height of the base. A foot lands with 2-3 m/s, 3 cm per node:
    ground within its reach in one node is judged when the foot has come to rest.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.legs = problem.legs
        weight = GRAVITY * problem.robot.total_mass
        # the noise of leg forces grows with the weight; a light robot's feet carry less
        on = min(max(GROUND.load, GROUND.load_share * weight), GROUND.load_most * weight)
        feet = problem.dynamics.nfeet
        self.stance = LoadHysteresis(feet, on, on * GROUND.release_share, GROUND.release_nodes)
        self._touchdowns = Touchdowns(self.stance, problem.dt)
        self._footholds = Footholds(feet)
        self._landings, self._leaning = Landings(problem, feet), Leaning(problem)
        self._rising = Rising()
        self._slopes, self._softness = Slopes(problem), Softness(problem)
        self._uneven, self._fades = 0.0, math.exp(-problem.dt / INTERVAL.memory)
        self._guessed, self._forgets = 0.0, math.exp(-problem.dt / INTERVAL.start_memory)
        self._sinking, self._lands = 0.0, math.exp(-problem.dt / INTERVAL.start_sinking_memory)
        self.creep, self._soles = Creep(problem), Soles(problem)
        self._untold = LoadByMotion(problem)

    @property
    def airborne(self) -> np.ndarray:
        """(nf,) feet that carried nothing at last.

        None of a robot on a fixed base, whose feet are not followed.
        """
        return ~self.stance.loaded if self.legs is not None else np.zeros_like(self.stance.loaded)

    @property
    def on_floor(self) -> bool:
        """Feet stand on a level floor, or on ground of which too little is known yet."""
        return self._footholds.on_floor or self._footholds.few

    def begin(self, window: Window) -> None:
        """Begin with slopes and footholds that a start batch has found."""
        if window.footholds is not None:
            # where nothing tells the place, how deep feet go down looks like a slope
            untold = not window.place.measured
            sinks = untold and self._softness.sinks(window.xs[-1])
            if not sinks:
                self._begin_off_floor(window, window.footholds)
            if untold:
                self._sinking = INTERVAL.start_sinking if sinks else INTERVAL.start_on_hard
        self._slopes.keep(window.xs[-1])

    def _begin_off_floor(self, window: Window, places: np.ndarray) -> None:
        """Feet that land next would stand on a level floor if these were not known.

        Args:
            window: of the start.
            places: (n, nf, 3) of all feet at the nodes of its batch, as guessed [m].
        """
        moved = self.problem.parameter(window.xs[-1], "height") - places[-1, :, 2]
        new = np.ones(places.shape[:2], bool)
        new[1:] = (places[1:] != places[:-1]).any(axis=2)
        for k, foot in np.argwhere(new).tolist():
            self._footholds.add(places[k, foot] + [0.0, 0.0, moved[foot]])
        if self._slopes.rolling:
            located = window.place.measured
            self._guessed = INTERVAL.start_tilt if located else INTERVAL.start_tilt_felt

    def update(self, window: Window, situation: Situation) -> None:
        """Look at the newest complete node: who has touched down, and on which ground."""
        if self.legs is None or window.inputs[-2].ground_depth > 0.0:
            return
        before = Planes.of(self.problem, window)
        self._follow(window, situation)
        before.stay_under_the_oldest(window, Planes.of(self.problem, window))

    def move(self, motion: WorldMotion) -> None:
        """Carry along with the world what is remembered of the ground."""
        self._footholds.move(motion.points)
        self._rising.move(motion.points)
        self._landings.forget()
        self._leaning.move()
        self._slopes.move(motion)

    def _follow(self, window: Window, situation: Situation) -> None:
        """Move the ground to where feet have come down."""
        feet = self._look(window, situation)
        landed, wrong = self._judge(window, situation, feet)
        footholds = landed & ~self._touchdowns.arriving
        if situation.suspended:
            # base and ground drift against each other: the ground stays away until a foot carries
            # load
            away = ~self.stance.loaded & (feet.above < 0.5 * CLEARANCE)
            wrong, feet.above = wrong | away, feet.above - CLEARANCE * away
        self._lay(window, landed, wrong, feet.soles)
        if window.weighed():
            wrong = wrong | self._follow_soles(window, feet)
            self._let_creep(window)
        self._say(window)
        if np.count_nonzero(wrong):
            turned = (self._slopes.touching(feet.soles, window.xs[-1]) - feet.points)[:, 2]
            feet.above += np.where(self._soles.tilted, 0.0, turned)
            self._place(window, np.flatnonzero(wrong), feet.above)
            self._landings.forget(wrong)
        self._remember(window, footholds, feet.soles)
        keep_within(window, "friction", GROUND.least_friction, GROUND.most_friction)
        self._softness.bound(window, situation)

    def _look(self, window: Window, situation: Situation) -> _Feet:
        """Where feet are over the ground, and what they carry."""
        after = window.xs[-1]
        soles, rates, _, _ = window.legs()
        normal = window.legs(window.told)[2]
        points = self._slopes.touching(soles, after)
        self._soles.look(window)
        if np.count_nonzero(self._soles.tilted):
            points[self._soles.tilted] = self._soles.centres[self._soles.tilted]
        above = points[:, 2] - self.problem.parameter(after, "height")
        if not window.weighed():
            normal = self._untold.forces(window, above, soles, rates)
        if situation.suspended and not situation.landing:
            # torques of a leg that hangs jump where data are missing
            normal = np.zeros_like(normal)
        return _Feet(soles, rates, points, above, normal)

    def _judge(
        self, window: Window, situation: Situation, feet: _Feet
    ) -> tuple[np.ndarray, np.ndarray]:
        """(nf,) feet that have landed, and feet whose ground is not where it was thought."""
        weighed = window.weighed()
        lowest = -self._softness.depth(window.xs[-1], feet.normal)
        gate = GROUND.gate if weighed or window.place.measured else GROUND.gate_by_motion
        caution = GROUND.caution if situation.suspended else 1.0
        at = feet.above, lowest, feet.rates, feet.normal
        landed, wrong = self._touchdowns.judge(*at, weighed, gate, caution)
        wrong |= self._come_down(window, landed & ~wrong, gate, feet.rates)
        if not weighed:
            wrong |= self._untold.left_hanging(window, feet.normal, self.stance.on)
            idle = ~wrong & self._untold.idle(window, feet.normal, self.stance.on)
            self._landings.set_free(window, idle, np.full(len(idle), gate))
        return landed, wrong

    def _come_down(
        self, window: Window, landed: np.ndarray, gate: float, rates: np.ndarray
    ) -> np.ndarray:
        """Let the ground under feet that come down be where they will be found to stand.

        At rest, a foot has joined the floor that all feet stand on; or ground that slopes, where
        the foothold before says nothing; or another one, as high as that but for the gate. Without
        torque a floor is taken for granted until there are footholds: nothing else holds the tilt.

        Args:
            window: solved.
            landed: (nf,) feet that have touched down or come to rest, where the ground is thought
                to be.
            gate: height within which it is [m].
            rates: (nf, 3) of the soles [m/s].

        Returns:
            (nf,) feet at rest whose ground is elsewhere.
        """
        if not np.count_nonzero(landed):
            return landed
        rests = landed & ~self._touchdowns.arriving
        touches = landed & self._touchdowns.arriving
        reach = self.problem.dt * np.maximum(-rates[:, 2], 0.0)  # in one node [m]
        footholds, within = self._footholds, gate + reach
        if footholds.on_floor or (footholds.few and not window.weighed()):
            standing = self.stance.loaded & ~self._touchdowns.arriving
            self._landings.touch(window, touches, within, standing)
            return self._landings.join(window, rests, gate)
        self._landings.set_free(window, touches, within)
        if footholds.few or footholds.steep:
            return rests  # nothing is known of how high they come down
        self._landings.set_free(window, rests, np.full(len(rests), gate))
        return np.zeros_like(rests)

    def _lay(
        self, window: Window, landed: np.ndarray, moved: np.ndarray, soles: np.ndarray
    ) -> None:
        """Ground of new footholds slopes as those before them tell, about where each foot stands.

        Args:
            window: solved.
            landed: (nf,) feet with a new foothold.
            moved: (nf,) feet whose ground is placed anew.
            soles: (nf, 3) their lowest points [m].
        """
        self.creep.land(landed)
        self._soles.tilted &= ~landed
        anew = landed | moved
        if self._slopes.known and np.count_nonzero(anew):
            self._incline_as_footholds(window, landed)
            self.problem.move_anchors(anew, self._slopes.touching(soles, window.xs[-1]))

    def _follow_soles(self, window: Window, feet: _Feet) -> np.ndarray:
        """(nf,) flat feet whose ground slopes as they do from now on, and is elsewhere for that."""
        if not (self._soles.any and self._slopes.known):
            return np.zeros_like(self._soles.tilted)
        tilted = self._tilt(window, feet.normal)
        if np.count_nonzero(tilted):
            moved = self._soles.centres[:, 2] - self.problem.parameter(window.xs[-1], "height")
            tilted &= np.abs(moved) > 0.5 * GROUND.gate
            feet.above = np.where(tilted, moved, feet.above)
        return tilted

    def _tilt(self, window: Window, normal: np.ndarray) -> np.ndarray:
        """(nf,) flat feet whose ground slopes as they do from now on."""
        soles = self._soles
        self._incline_as_footholds(window, soles.lifted(window, self.stance.loaded))
        tilted = soles.tilt(window, normal, self.stance.loaded & (normal > self.stance.on))
        if not np.count_nonzero(tilted):
            return tilted
        self.creep.land(tilted)
        for foot in np.flatnonzero(tilted):
            self._slopes.lay(foot, Slope(soles.slopes[foot].copy(), SOLE.stddev))
            # what feet on wrong ground say of friction is void
            present = self.problem.parameter(window.xs[-1], "friction")[0]
            renew(window, "friction", [0], present, GROUND.bounded_stddev)
        return tilted

    def _let_creep(self, window: Window) -> None:
        """Let feet creep that slide, or that only a slope would hold which no ground has."""
        self._begin_creep(window, self.creep.sliding(window) | self._slopes.steep(window.xs[-1]))

    def loosen(self, window: Window, before: list[np.ndarray]) -> bool:
        """Let those feet creep whose contacts strain the window; returns whether any is new.

        Args:
            window: solved, and far from what was known before.
            before: controls of its nodes before it was solved.
        """
        if self.legs is None or not window.weighed():
            return False  # without its load, nothing tells when such a foot lands again
        return self._begin_creep(window, self.creep.straining(window, before))

    def _say(self, window: Window) -> None:
        """Tell the window what kind of ground it stands on; what was uneven fades."""
        creeps = self.stance.loaded & (self.creep.velocity > 0.0) if self.creep.any else False
        window.creeping = bool(np.count_nonzero(creeps))
        uneven = window.creeping or (len(self._footholds) and not self._footholds.on_floor)
        self._uneven = 1.0 if uneven else self._uneven * self._fades
        # a floor holds the height
        rising = 0.0 if self.on_floor else self._rising.rate(1e-9 * window.stamps[-2])
        window.place.rising = math.hypot(rising, self._sinking)
        self._sinking *= self._lands
        softness = self.problem.softness(window.xs[-1])
        window.unevenness = self._uneven + softness
        self._leaning.look(window, self.stance.loaded)
        # on soft ground feet sink in as they stand, too, which `tilt_soft` states
        window.leaning = math.exp(-softness) * self._leaning.tilt
        window.guessed, self._guessed = self._guessed, self._forgets * self._guessed

    def _begin_creep(self, window: Window, which: np.ndarray) -> bool:
        if not np.count_nonzero(which):
            return False
        new = self.creep.begin(window, which)
        self._slopes.reset(window, new)
        return new.size > 0

    def _incline_as_footholds(self, window: Window, feet: np.ndarray) -> None:
        """Ground under these feet (nf,) slopes as the footholds tell."""
        if np.count_nonzero(feet):
            self._slopes.incline(window, feet, self._footholds.slope())

    def _remember(self, window: Window, landed: np.ndarray, soles: np.ndarray) -> None:
        """The footholds of these feet: on level ground at the height that is kept."""
        if not np.count_nonzero(landed):
            return
        after = window.xs[-1]
        height = self.problem.parameter(after, "height")
        self._footholds.sinking = self._softness.spread(after)
        for foot in np.flatnonzero(landed):
            place = np.array([*soles[foot, :2], height[foot]])
            self._footholds.add(place)
            self._rising.add(1e-9 * window.stamps[-2], place)

    def _place(self, window: Window, feet: np.ndarray, above: np.ndarray) -> None:
        """Put the ground under the soles of these feet.

        Height = height of the base + what the leg says (terrain_stddev).
        """
        problem, arrival = self.problem, window.arrival
        first, head, reference = problem.columns("height").start, window.xs[0], arrival.reference
        rows = np.zeros((len(feet), problem.ndx))
        rows[:, :3] = pin.Quaternion(reference[3:7].copy()).toRotationMatrix()[2]
        # the prior speaks of its reference, which the head has left by the corrections of base and
        # heights
        moved = problem.parameter(head, "height") - problem.parameter(reference, "height")
        change = above[feet] + moved[feet] - (head[2] - reference[2])
        stddev = np.full(len(feet), problem.config.estimator.terrain_stddev)
        arrival.replace_prior([int(first + f) for f in feet], rows, stddev, change)
        heights = problem.parameter(head, "height").copy()
        heights[feet] += above[feet]
        window.set_parameter("height", heights)
