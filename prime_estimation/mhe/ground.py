# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground height under each foot, a parameter of the window that is reset at each touch-down."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from ..config.policies import GROUND, INTERVAL, SOLE, TERRAIN
from ..contact.detection import LoadHysteresis
from ..contact.footholds import Footholds, Slope
from ..contact.leg_forces import CLEARANCE
from ..contact.rising import Rising
from ..robot import GRAVITY
from ..sensors.frames import WorldMotion
from .creep import Creep
from .knowledge import renew
from .landings import Landings
from .leaning import Leaning
from .load_by_motion import LoadByMotion
from .planes import Planes
from .problem import Problem
from .situation import Situation
from .soles import Soles
from .touchdowns import Touchdowns
from .window import Window
from .world_motion import moved_slope

# slope of a level floor where the cost-to-come holds the place: exact, for slopes that have been
# corrected since would tell it, and the heading
EXACT_SLOPE = 1e-6
SINKS = 0.5  # logarithm of the compliance of ground in which feet go down as they stand


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
        self._standing = weight / max(feet, 1)  # load of a foot [N]
        self.stance = LoadHysteresis(feet, on, on * GROUND.release_share, GROUND.release_nodes)
        self._touchdowns = Touchdowns(self.stance, problem.dt)
        self._footholds = Footholds(feet)
        self._landings, self._leaning = Landings(problem, feet), Leaning(problem)
        self._rising = Rising()
        if "slope" in problem.layout:
            problem.dynamics.anchor = np.zeros((feet, 2))
        self._may_sink = "softness" in problem.layout
        self._stood, self._was_soft = GROUND.stood, GROUND.softest
        # by which feet go down on hard ground [m/N]
        self._compliance = 1.0 / problem.dynamics.stiffness(0.0) if self._may_sink else 0.0
        self._uneven, self._fades = 0.0, math.exp(-problem.dt / INTERVAL.memory)
        self._guessed, self._forgets = 0.0, math.exp(-problem.dt / INTERVAL.start_memory)
        self.creep, self._soles = Creep(problem), Soles(problem)
        self._untold = LoadByMotion(problem)
        self._laid = [Slope(np.zeros(2), 0.0, level=True)] * feet  # the ground under each, before
        self._laid_means = np.zeros((feet, 2))
        spheres = [
            [c.radius for c in problem.robot.contacts if c.foot == f] for f in problem.robot.feet
        ]
        # a single sphere rolls: where it touches the ground turns with the ground's normal
        self._radius = [r[0] if len(r) == 1 else 0.0 for r in spheres]

    @property
    def airborne(self) -> np.ndarray:
        """(nf,) feet that carried nothing at last.

        None of a robot on a fixed base, whose feet are not followed.
        """
        return ~self.stance.loaded if self.legs is not None else np.zeros_like(self.stance.loaded)

    def begin(self, window: Window) -> None:
        """Begin with slopes and footholds that a start batch has found."""
        # where nothing tells the place, how deep feet go down looks like a slope
        sinks = not window.place.measured and self.problem.softness(window.xs[-1]) > SINKS
        if window.footholds is not None and not sinks:
            self._begin_off_floor(window, window.footholds)
        for foot, mean in enumerate(self._slopes(window.xs[-1])):
            if mean.any():
                self._lay_slope(foot, Slope(mean.copy(), TERRAIN.slope))

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
        if any(self._radius):
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
        for foot, slope in enumerate(self._laid):
            self._lay_slope(foot, moved_slope(slope, motion))

    def _follow(self, window: Window, situation: Situation) -> None:
        """Move the ground to where feet have come down."""
        problem, after = self.problem, window.xs[-1]
        soles, rates, _, _ = window.legs()
        normal = window.legs(window.told)[2]
        points = self._touching(soles, after)
        self._soles.look(window)
        if np.count_nonzero(self._soles.tilted):
            points[self._soles.tilted] = self._soles.centres[self._soles.tilted]
        above = points[:, 2] - problem.parameter(after, "height")
        weighed = window.weighed()
        if not weighed:
            normal = self._untold.forces(window, above, soles, rates)
        if situation.suspended and not situation.landing:
            # torques of a leg that hangs jump where data are missing
            normal = np.zeros_like(normal)
        lowest = -self._sink(after, normal)
        gate = GROUND.gate if weighed or window.place.measured else GROUND.gate_by_motion
        caution = GROUND.caution if situation.suspended else 1.0
        at = above, lowest, rates, normal
        landed, wrong = self._touchdowns.judge(*at, weighed, gate, caution)
        footholds = landed & ~self._touchdowns.arriving
        wrong |= self._come_down(window, landed & ~wrong, gate, rates)
        if not weighed:
            wrong |= self._untold.left_hanging(window, normal, self.stance.on)
        if situation.suspended:
            # base and ground drift against each other: the ground stays away until a foot carries
            # load
            away = ~self.stance.loaded & (above < 0.5 * CLEARANCE)
            wrong, above = wrong | away, above - CLEARANCE * away
        self._lay(window, landed, wrong, soles)
        if weighed:
            if self._soles.any and "slope" in problem.layout:
                tilted = self._tilt(window, normal)
                if np.count_nonzero(tilted):
                    moved = self._soles.centres[:, 2] - problem.parameter(after, "height")
                    tilted &= np.abs(moved) > 0.5 * GROUND.gate
                    wrong, above = wrong | tilted, np.where(tilted, moved, above)
            self._let_creep(window)
        self._say(window)
        if np.count_nonzero(wrong):
            turned = (self._touching(soles, after) - points)[:, 2]
            above += np.where(self._soles.tilted, 0.0, turned)
            self._place(window, np.flatnonzero(wrong), above)
            self._landings.forget(wrong)
        self._remember(window, footholds, soles)
        self._bound(window, "friction", GROUND.least_friction, GROUND.most_friction)
        if self._may_sink:
            self._bound(window, "softness", GROUND.hardest, self._softest(window, situation))

    def _touching(self, soles: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Points (nf, 3) [m] of the feet that touch the sloping ground, from their lowest ones."""
        away = []  # from the lowest point: r (up - normal)
        for (x_slope, y_slope), radius in zip(self._slopes(state).tolist(), self._radius):
            length = math.sqrt(x_slope * x_slope + y_slope * y_slope + 1.0)
            x, y, z = x_slope / length, y_slope / length, 1.0 - 1.0 / length
            away.append((radius * x, radius * y, radius * z))
        return soles + away

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        slope = self.problem.parameter(x, "slope")
        return slope.reshape(-1, 2) if slope.size else np.zeros((len(self._radius), 2))

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
        if "slope" in self.problem.layout and np.count_nonzero(anew):
            self._incline_as_footholds(window, landed)
            self.problem.move_anchors(anew, self._touching(soles, window.xs[-1]))

    def _tilt(self, window: Window, normal: np.ndarray) -> np.ndarray:
        """(nf,) flat feet whose ground slopes as they do from now on."""
        soles = self._soles
        self._incline_as_footholds(window, soles.lifted(window, self.stance.loaded))
        tilted = soles.tilt(window, normal, self.stance.loaded & (normal > self.stance.on))
        if not np.count_nonzero(tilted):
            return tilted
        self.creep.land(tilted)
        for foot in np.flatnonzero(tilted):
            self._lay_slope(foot, Slope(soles.slopes[foot].copy(), SOLE.stddev))
            # what feet on wrong ground say of friction is void
            present = self.problem.parameter(window.xs[-1], "friction")[0]
            renew(window, "friction", [0], present, GROUND.bounded_stddev)
        return tilted

    def _let_creep(self, window: Window) -> None:
        """Let feet creep that slide, or that only a slope would hold which no ground has."""
        which = self.creep.sliding(window)
        if "slope" in self.problem.layout:
            away = self._slopes(window.xs[-1]) - self._laid_means
            which |= [x * x + y * y > TERRAIN.steepest**2 for x, y in away.tolist()]
        self._begin_creep(window, which)

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
        held = self._footholds.on_floor or self._footholds.few  # by a height that is known
        window.place.rising = 0.0 if held else self._rising.rate(1e-9 * window.stamps[-2])
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
        if "slope" in self.problem.layout:
            for foot in new:
                self._incline(window, foot, self._laid[foot])
        return new.size > 0

    def _incline_as_footholds(self, window: Window, feet: np.ndarray) -> None:
        """Ground under these feet (nf,) slopes as the footholds tell."""
        if not np.count_nonzero(feet):
            return
        slope = self._footholds.slope()
        for foot in np.flatnonzero(feet):
            self._lay_slope(foot, slope)
            self._incline(window, foot, slope)

    def _lay_slope(self, foot: int, slope: Slope) -> None:
        self._laid[foot], self._laid_means[foot] = slope, slope.mean

    def _incline(self, window: Window, foot: int, slope: Slope) -> None:
        """Ground under a foot slopes as it is thought to, with the little that a window learns."""
        stddev = TERRAIN.learned * slope.stddev
        if slope.level:
            stddev = EXACT_SLOPE if window.place.measured else TERRAIN.level
        renew(window, "slope", [2 * foot, 2 * foot + 1], slope.mean, stddev)

    def _remember(self, window: Window, landed: np.ndarray, soles: np.ndarray) -> None:
        """The footholds of these feet: on level ground at the height that is kept."""
        if not np.count_nonzero(landed):
            return
        after = window.xs[-1]
        height = self.problem.parameter(after, "height")
        self._footholds.sinking = TERRAIN.sinking * self._depth(after, self._standing)
        for foot in np.flatnonzero(landed):
            place = np.array([*soles[foot, :2], height[foot]])
            self._footholds.add(place)
            self._rising.add(1e-9 * window.stamps[-2], place)

    def _softest(self, window: Window, situation: Situation) -> float:
        """Bound of the ground's compliance: a robot that comes down seems to do so on soft ground.

        Until it has stood for a while, the ground is no softer than it was before.
        """
        self._stood = 0 if situation.suspended else self._stood + 1
        if self._stood >= GROUND.stood:
            softness = float(self.problem.parameter(window.xs[-1], "softness")[0])
            self._was_soft = max(math.exp(softness), 2.0 * GROUND.hardest)
            return GROUND.softest
        return self._was_soft

    def _bound(self, window: Window, name: str, least: float, most: float) -> None:
        """Keep a logarithmic parameter of the contact law where the law is one of a ground.

        While nothing slips, friction is hardly observed. A parameter at its bound is let go with
        little uncertainty.
        """
        least, most = math.log(least), math.log(most)
        value = float(self.problem.parameter(window.xs[-1], name)[0])
        window.bound(name, least, most)
        if not least < value < most:
            renew(window, name, [0], min(max(value, least), most), GROUND.bounded_stddev)

    def _sink(self, x: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """(nf,) by how much feet may be below the ground that gives way under them [m]."""
        return GROUND.sink * self._depth(x, np.maximum(normal, 0.0))

    def _depth(self, x: np.ndarray, normal: np.ndarray | float) -> np.ndarray | float:
        """How much deeper than on hard ground feet stand under these forces [N] [m]."""
        softness = self.problem.softness(x) if self._may_sink else 0.0
        if softness == 0.0:
            return 0.0 * normal
        return normal * (1.0 / self.problem.dynamics.stiffness(softness) - self._compliance)

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
