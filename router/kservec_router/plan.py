"""A graph, checked and made ready: every URL, condition and policy is compiled before the first request.

Refuses what KServe's router accepts and then fails or misbehaves on: cycles, unknown nodes, weights that do not sum to
100, conditions that are no GJSON. Knows nothing of sockets.
KServe: cmd/router/main.go (routeStep, pickupRoute), pkg/apis/serving/v1alpha1/inference_graph_validation.go
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import accumulate, chain

import orjson

from kservec.spec.graph_texts import MOST_CALLS, RESPONSE, condition_problem, input_problem
from kservec.spec.inferencegraph import ROOT, InferenceGraphSpec, InferenceRouter, InferenceStep, RouterTimeouts
from kservec_router.errors import GraphError
from kservec_router.gjson import Condition, Test, compile_condition
from kservec_router.messages import Target
from kservec_router.policies import Policies, Policy
from kservec_router.targets import parse_target

DEEPEST_NESTING = 100


class Kind(enum.Enum):
    """How a node routes."""

    SEQUENCE = "Sequence"
    SPLITTER = "Splitter"
    ENSEMBLE = "Ensemble"
    SWITCH = "Switch"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """A step: a target or a node, and how its input is made.

    `label` is the name, or the position of a step without one; `key` the label as the start of a JSON member;
    `part` the GJSON path of the part of the response that is its input (empty: all of it). `changes_input`: its input
    is not that of its node; `is_plain`: it is a call, and that is not repeated.
    """

    node: str
    label: str
    key: bytes
    target: Target | None
    inner: Node | None
    takes_response: bool
    part: bytes
    maps_predictions: bool
    condition: Condition | None
    hard: bool
    policy: Policy
    changes_input: bool
    is_plain: bool

    @property
    def reads_response(self) -> bool:
        """Whether the step cannot do without the reply of the step before it."""
        return self.takes_response or self.condition is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A node; `bounds` are the running sums of a Splitter's weights.

    `tests` are those of the conditions, with their steps, when all of them have one, and `keys` what they look at.
    `streams`: a request can be passed on while it arrives. `only`: the one step of a Sequence that takes the input as
    it is.
    """

    name: str
    kind: Kind
    steps: tuple[Step, ...]
    bounds: tuple[int, ...]
    tests: tuple[tuple[Test, Step], ...]
    keys: tuple[bytes, ...]
    streams: bool
    only: Step | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Time limits in seconds; 0 means none. KServe: pkg/constants/constants.go (RouterTimeouts*)."""

    read: float = 60
    write: float = 60
    idle: float = 180
    client: float = 0
    total: float = 0

    @property
    def answer(self) -> float:
        """How long the client may wait for the beginning of an answer."""
        return min((limit for limit in (self.write, self.total) if limit > 0), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A graph ready to be run; `nodes` has those that can be reached, `notes` what is odd but harmless."""

    root: Node
    nodes: tuple[Node, ...]
    timeouts: Timeouts
    notes: tuple[str, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every service that a request may reach; there are no others."""
        steps = chain.from_iterable(node.steps for node in self.nodes)
        return tuple(step.target for step in steps if step.target is not None)


def compile_plan(spec: InferenceGraphSpec, policies: Policies) -> Plan:
    """The plan of a graph.

    Raises:
        GraphError: The graph cannot be served; everything wrong with it is named.
    """
    compiler = _Compiler(spec, policies)
    root = compiler.node(ROOT, ())
    if root is None or compiler.problems:
        raise GraphError(compiler.problems)
    unused = sorted(set(spec.nodes) - set(compiler.done))
    notes = [*compiler.notes, *(f'node "{name}" is never reached' for name in unused)]
    notes += [f'no step matches the policy for "{pattern}"' for pattern in policies.unmatched(compiler.labels)]
    nodes = tuple(node for node in compiler.done.values() if node is not None)
    return Plan(root=root, nodes=nodes, timeouts=_timeouts(spec), notes=tuple(notes))


def _timeouts(spec: InferenceGraphSpec) -> Timeouts:
    given, standard = spec.router_timeouts or RouterTimeouts(), Timeouts()

    def chosen(value: int | None, otherwise: float) -> float:
        return otherwise if value is None else max(0, value)

    return Timeouts(
        read=chosen(given.server_read, standard.read),
        write=chosen(given.server_write, standard.write),
        idle=chosen(given.server_idle, standard.idle),
        client=chosen(given.service_client, standard.client),
        total=chosen(spec.timeout, standard.total),
    )


class _Compiler:
    """One compilation: nodes done so far, and what was found wrong."""

    def __init__(self, spec: InferenceGraphSpec, policies: Policies) -> None:
        self.spec, self.policies = spec, policies
        self.done: dict[str, Node | None] = {}
        self.calls: dict[str, int] = {}
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.labels: list[str] = []

    def node(self, name: str, above: tuple[str, ...]) -> Node | None:
        """The node *name*, reached by way of *above*."""
        if name in above:
            self._wrong(f"the nodes go round in a circle: {' -> '.join((*above[above.index(name) :], name))}")
            return None
        if name in self.done:
            return self.done[name]
        given = self.spec.nodes.get(name)
        if given is None:
            self._wrong(f'there is no node "{name}"')
            return None
        if len(above) > DEEPEST_NESTING:
            self._wrong(f"nodes are nested more than {DEEPEST_NESTING} deep")
            return None
        kind = Kind(given.router_type)
        steps = tuple(self.step(name, kind, place, step, (*above, name)) for place, step in enumerate(given.steps))
        self._check_node(name, kind, given)
        tests = _tests(steps)
        is_single = kind is Kind.SEQUENCE and len(steps) == 1 and not steps[0].changes_input
        node = Node(
            name=name,
            kind=kind,
            steps=steps,
            bounds=tuple(accumulate(step.weight or 0 for step in given.steps)) if kind is Kind.SPLITTER else (),
            tests=tests,
            keys=tuple(sorted({key for step in steps if step.condition for key in step.condition.keys})),
            streams=_streams(kind, steps),
            only=steps[0] if is_single else None,
        )
        self.done[name] = node
        self._count_calls(name, kind, given)
        return node

    def _count_calls(self, name: str, kind: Kind, given: InferenceRouter) -> None:
        """Note how many services a request to a node asks at most, and refuse too many for one request."""
        counts = [self.calls.get(step.node_name, 0) if step.node_name else 1 for step in given.steps]
        several = kind in {Kind.SEQUENCE, Kind.ENSEMBLE}
        self.calls[name] = sum(counts) if several else max(counts, default=0)
        most = max(MOST_CALLS, sum(len(node.steps) for node in self.spec.nodes.values()))
        if name == ROOT and self.calls[name] > most:
            self._wrong(f"one request leads to {self.calls[name]} calls; at most {most} are made")

    def step(self, node: str, kind: Kind, place: int, given: InferenceStep, above: tuple[str, ...]) -> Step:
        """Step number *place* of a node."""
        label = given.name or str(place)
        where = f'node "{node}", step {place}' + (f' ("{given.name}")' if given.name else "")
        self.labels.append(f"{node}/{label}")
        in_sequence, policy = kind is Kind.SEQUENCE, self.policies.of(node, label)
        takes_response, part = self._input(where, given.data) if in_sequence else (False, b"")
        return Step(
            node=node,
            label=label,
            key=orjson.dumps(label) + b":",
            target=None if given.node_name else self._target(where, given),
            inner=self.node(given.node_name, above) if given.node_name else None,
            takes_response=takes_response and place > 0,
            part=part,
            maps_predictions=in_sequence and given.map_predictions_to_instances,
            condition=self._condition(where, kind, place, given.condition),
            hard=given.dependency == "Hard",
            policy=policy,
            changes_input=(takes_response and place > 0) or (in_sequence and given.map_predictions_to_instances),
            is_plain=policy.is_plain and not given.node_name,
        )

    def _target(self, where: str, given: InferenceStep) -> Target | None:
        if not given.service_url:
            name = f'serviceName "{given.service_name}"' if given.service_name else "no nodeName or serviceUrl"
            self._wrong(f"{where}: {name}: it needs a serviceUrl to be called")
            return None
        try:
            return parse_target(given.service_url)
        except ValueError as error:
            self._wrong(f"{where}: serviceUrl: {error}")
            return None

    def _input(self, where: str, data: str) -> tuple[bool, bytes]:
        """Whether `data` asks for the response, and for which part of it."""
        if problem := input_problem(data):
            self._wrong(f'{where}: data "{data}": {problem}')
        elif data.startswith(RESPONSE):
            return True, data[len(RESPONSE) + 1 :].encode()
        return False, b""

    def _condition(self, where: str, kind: Kind, place: int, text: str) -> Condition | None:
        if not text:
            if kind is Kind.SWITCH:
                self.notes.append(f"{where}: it has no condition, so it is never chosen")
            return None
        if kind in (Kind.ENSEMBLE, Kind.SPLITTER):
            self.notes.append(f"{where}: a condition has no effect in a node of type {kind.value}")
            return None
        if kind is Kind.SEQUENCE and place == 0:
            self._wrong(f"{where}: the first step of a Sequence has no response to hold a condition against")
            return None
        if problem := condition_problem(text):
            self._wrong(f'{where}: condition "{text}": {problem}')
            return None
        return compile_condition(text)

    def _check_node(self, name: str, kind: Kind, given: InferenceRouter) -> None:
        if not given.steps:
            self._wrong(f'node "{name}" has no steps')
        elif kind is Kind.SPLITTER:
            weights = [step.weight for step in given.steps]
            if None in weights or any(weight is not None and weight < 0 for weight in weights):
                self._wrong(f'node "{name}": each step of a Splitter needs a weight of 0 to 100')
            elif (total := sum(weight or 0 for weight in weights)) != 100:
                self._wrong(f'node "{name}": the weights sum to {total}, not to 100')
        elif kind is Kind.ENSEMBLE:
            labels = [step.name or str(place) for place, step in enumerate(given.steps)]
            for label in sorted({label for label in labels if labels.count(label) > 1}):
                self._wrong(f'node "{name}": two results would be called "{label}"; give the steps other names')

    def _wrong(self, problem: str) -> None:
        self.problems.append(problem)


def _tests(steps: tuple[Step, ...]) -> tuple[tuple[Test, Step], ...]:
    """The tests of all conditions; none when a condition has none."""
    pairs = [(step.condition.test, step) for step in steps if step.condition is not None]
    found = tuple((test, step) for test, step in pairs if test is not None)
    return found if len(found) == len(pairs) else ()


def _streams(kind: Kind, steps: tuple[Step, ...]) -> bool:
    """Whether a request can be passed on while it arrives: one step takes it, as it is, and once."""
    if kind is Kind.SEQUENCE and (len(steps) != 1 or steps[0].maps_predictions):
        return False
    if kind not in (Kind.SEQUENCE, Kind.SPLITTER):
        return False
    return all(step.inner.streams if step.inner is not None else step.is_plain for step in steps)
