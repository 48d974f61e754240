"""Objects of plain classes."""

from dataclasses import dataclass

from tests.conformance import N, X, feature


class Ball:
    gravity = 9.81

    def __init__(self, height, speed=0.0):
        self.height = height
        self.speed = speed

    def step(self, dt):
        self.speed -= self.gravity * dt
        self.height += self.speed * dt
        if self.height < 0:
            self.height = -self.height
            self.speed *= -0.8
        return self.height


@dataclass
class State:
    place: float
    turns: int = 0


class Trail:
    def __init__(self, start):
        if start > 9:
            raise ValueError("too far")
        self.places = [start]

    @property
    def last(self):
        return self.places[-1] if self.places else 0.0

    def go(self, by):
        if self.last + by < 4:
            self.places.append(self.last + by)


@feature("objects of plain classes and dataclasses: made, read, changed, returned", X, N)
def objects(x, n):
    state = State(x)
    for _ in range(n):
        state.place += 0.5
        state.turns += 1
    return state.place * state.turns


@feature("methods that branch and change their object, `raise` in `__init__`, properties", X, N)
def methods(x, n):
    trail = Trail(x)
    for i in range(n):
        trail.go(i * 0.5)
    return trail.last + len(trail.places)


@feature("lists of objects, and loops that change them", X, N)
def several(x, n):
    balls = [Ball(1.0), Ball(x * x, 0.5)]
    for _ in range(n):
        for ball in balls:
            ball.step(0.25)
    return balls[0].height + balls[1].speed


def _lift(state, by):
    state.place += by
    if state.place > 1:
        state.turns = 1


@feature("functions that change an object, under two names", X, N)
def changed(x, n):
    state = State(x)
    also = state
    for i in range(n):
        _lift(state, i * 0.5)
    return also.place + also.turns


class Rubber(Ball):
    def step(self, dt):
        if self.speed > -1:
            return super().step(dt * 2)
        return super().step(dt)


@feature("inheritance, `super()`", X, N)
def inherited(x, n):
    ball, highest = Rubber(x * x), 0.0
    for _ in range(n):
        highest = max(highest, ball.step(0.25))
    return highest + ball.speed
