"""Assemblies as classes: members are recipes before activation and factories afterwards."""

from __future__ import annotations

import abc
import functools
import gc
import inspect
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

import invivo


class Quest:
    def __init__(self, name: str = "grail") -> None:
        self.name = name


class Fort:
    def __init__(self, towers: int = 1) -> None:
        self.towers = towers


class Horse:
    name: str = "unnamed"
    rider: Knight | None = None

    def __init__(self, age: int = 3) -> None:
        self.age = age


class Knight:
    fort: Fort
    horse: Horse
    horses: list[Horse]
    by_name: dict[str, Horse]
    damsels: int = 0
    motto: str = ""
    friend: Knight | None = None
    make_horse: Callable[..., Horse]
    later: invivo.Lazy[Fort]

    def __init__(self, quest: Quest, *, name: str = "Lancelot") -> None:
        self.quest, self.name = quest, name
        self.said: list[str] = []

    def say(self, text: str, twice: bool = False) -> None:
        self.said.append(text * (2 if twice else 1))

    def whisper(self, *words):
        self.said.append(" ".join(words).lower())

    def raise_horse(self, age: int) -> Horse:
        return Horse(age)


class Weather(invivo.Assembly):
    @invivo.lazy_singleton
    def fort(self) -> Fort:
        return invivo.new(Fort, 4)


class Camelot(invivo.Assembly):
    weather: Weather

    @invivo.define
    def fort(self) -> Fort:
        return invivo.new(Fort, towers=3)

    @invivo.define
    def knight(self, quest: Quest, damsels: int = 2) -> Knight:
        knight = invivo.new(Knight, quest, name="Galahad")
        knight.fort = self.fort()
        knight.damsels = damsels
        knight.say("hail")
        knight.say("ho", twice=True)
        knight.whisper("AND", "hush")
        return knight

    @invivo.define
    def pair(self) -> Knight:
        knight = invivo.new(Knight, invivo.new(Quest, "pair"))
        knight.friend = self.knight(invivo.new(Quest, "friend's"), damsels=7)
        knight.fort = self.fort()
        return knight


def test_a_member_is_a_factory_while_its_assembly_is_active_and_not_ready_else() -> None:
    camelot = Camelot()
    with pytest.raises(invivo.NotReadyError, match=r"camelot\.fort\(\) needs the assembly to be active"):
        camelot.fort()
    with invivo.Runtime(camelot) as runtime:
        fort = camelot.fort()
        assert type(fort) is Fort
        assert fort.towers == 3
        assert camelot.runtime is runtime
        quest = Quest("dragon")
        knight = camelot.knight(quest)
        assert (knight.quest is quest, knight.name, knight.damsels) == (True, "Galahad", 2)
        assert knight.said == ["hail", "hoho", "and hush"]
        assert camelot.knight(quest=quest, damsels=5).damsels == 5
        assert runtime.resolve("camelot.knight", quest, damsels=6).damsels == 6
        assert runtime["camelot.fort"].towers == 3
        assert camelot["fort"].towers == 3
    with pytest.raises(invivo.ClosedError):
        camelot.fort()


def test_members_refer_to_each_other_with_arguments_and_share_graph_scope_within_a_resolve() -> None:
    with invivo.Runtime(camelot := Camelot()):
        pair = camelot.pair()
        assert pair.friend is not None
        assert (pair.friend.damsels, pair.friend.quest.name, pair.quest.name) == (7, "friend's", "pair")
        assert pair.friend.fort is pair.fort
        assert camelot.pair().fort is not pair.fort


def test_wrong_arguments_are_told_with_the_parameters() -> None:
    with invivo.Runtime(camelot := Camelot()) as runtime:
        member: Any = camelot.knight
        with pytest.raises(TypeError, match=r"camelot\.knight\(quest: .*takes 1 to 2 arguments, got 0"):
            member()
        with pytest.raises(TypeError, match="takes 1 to 2 arguments, got 3"):
            runtime.resolve("camelot.knight", Quest(), 1, 2)
        with pytest.raises(invivo.WrongTypeError, match="damsels"):
            member(Quest(), "many")


def test_a_cycle_through_properties_is_closed() -> None:
    class Stable(invivo.Assembly):
        @invivo.define
        def rider(self) -> Knight:
            rider = invivo.new(Knight, invivo.new(Quest))
            rider.horse = self.horse()
            return rider

        @invivo.define
        def horse(self) -> Horse:
            horse = invivo.new(Horse)
            horse.rider = self.rider()
            return horse

    with invivo.Runtime(stable := Stable()):
        rider, horse = stable.rider(), stable.horse()
        assert rider.horse.rider is rider
        assert horse.rider is not None
        assert horse.rider.horse is horse
        gone = weakref.ref(rider)
        del rider
        gc.collect()
        assert gone() is None


def test_an_inline_definition_has_the_key_of_its_place() -> None:
    class Stable(invivo.Assembly):
        @invivo.prototype
        def knight(self, age: int) -> Knight:
            knight = invivo.new(Knight, invivo.new(Quest, "inline"))
            knight.horse = invivo.new(Horse, age)
            knight.horse.name = "not a property of the knight" if False else knight.horse.name
            knight.horses = [invivo.new(Horse, 1), invivo.scoped(invivo.new(Horse, 2), "prototype")]
            knight.by_name = {"old": invivo.new(Horse, age), "same": knight.horse}
            return knight

    class Plain(invivo.Assembly):
        @invivo.prototype
        def knight(self, age: int) -> Knight:
            horse = invivo.new(Horse, age)
            horse.name = "Rocinante"
            knight = invivo.new(Knight, invivo.new(Quest, "inline"))
            knight.horse = horse
            knight.horses = [invivo.new(Horse, 1), invivo.scoped(invivo.new(Horse, 2), "prototype")]
            knight.by_name = {"old": invivo.new(Horse, age), "same": horse}
            return knight

    with invivo.Runtime(plain := Plain()) as runtime:
        knight = plain.knight(9)
        assert (knight.horse.age, knight.horse.name, knight.quest.name) == (9, "Rocinante", "inline")
        assert [horse.age for horse in knight.horses] == [1, 2]
        assert knight.by_name["old"].age == 9
        assert knight.by_name["same"] is knight.horse
        assert runtime.resolve("plain.knight.horse", 4).age == 4
        assert runtime["plain.knight.quest"].name == "inline"
        assert "plain.knight.horses.1" in runtime
        assert runtime.resolve_all(Horse) == [], "what stands inline is nobody else's"
        runtime.define(Knight, "plain.knight", quest=Quest())
        assert "plain.knight.horse" not in runtime, "with its owner it goes"


def test_a_member_that_answers_another_is_an_alias_also_with_bound_arguments() -> None:
    class Round(Camelot, name="round"):
        @invivo.define
        def hero(self, damsels: int) -> Knight:
            return self.knight(invivo.new(Quest, "hero's"), damsels)

        @invivo.define
        def champion(self) -> Knight:
            return self.hero(12)

        @invivo.define
        def home(self) -> Fort:
            return self.weather.fort()

    with invivo.Runtime(table := Round()):
        assert (table.hero(4).damsels, table.hero(4).quest.name) == (4, "hero's")
        assert table.champion().damsels == 12
        assert table.home() is table.weather.fort()


def test_an_alias_gives_its_arguments_in_any_order_and_what_is_made_of_them() -> None:
    class Pair:
        def __init__(self, left: int, right: Any) -> None:
            self.left, self.right = left, right

    class Pairs(invivo.Assembly):
        @invivo.lazy_singleton
        def pair(self, left: int, right: Any) -> Pair:
            return invivo.new(Pair, left, right)

        @invivo.define
        def turned(self, right: Any, left: int) -> Pair:
            return self.pair(left, right)

        @invivo.define
        def last(self, left: int) -> Pair:
            return self.turned("fixed", left)

        @invivo.define
        def first(self, right: Any, unused: int = 3) -> Pair:
            return self.pair(1, right)

        @invivo.define
        def nested(self, left: int) -> Pair:
            return self.pair(left, self.pair(left, [left]))

        @invivo.define
        def named(self, a: int, b: int) -> Pair:
            return self.pair(right=a, left=b)

    with invivo.Runtime(pairs := Pairs()) as runtime:
        assert pairs.turned("r", 2) is pairs.pair(2, "r") is pairs.turned(left=2, right="r")
        assert (pairs.last(5).left, pairs.last(5).right) == (5, "fixed")
        assert (pairs.first("x").right, pairs.first("y", 4).right) == ("x", "y")
        assert pairs.nested(6).right is pairs.pair(6, [6])
        assert pairs.named(1, 2) is pairs.pair(2, 1) is runtime.resolve("pairs.named", 1, 2)
        with pytest.raises(invivo.ArityError, match=r"pairs\.turned"):
            pairs.turned("r")
        assert "def turned(self, right: Any, left: int) -> Pair:" in runtime.keys_text()
        with runtime.override("pairs.turned", Pair, left=7, right=7):
            assert pairs.turned("r", 2).left == 7
            assert pairs.last(3).left == 7
        assert pairs.turned("r", 2).left == 2


def test_properties_and_methods_of_other_components_are_recipes_too() -> None:
    class Stable(Camelot, name="stable"):
        @invivo.lazy_singleton
        def breeder(self) -> Knight:
            knight = invivo.new(Knight, invivo.new(Quest, "breeding"))
            knight.fort = self.fort()
            return knight

        @invivo.prototype
        def foal(self, age: int) -> Horse:
            return self.breeder().raise_horse(age)

        @invivo.define
        def copy(self) -> Knight:
            knight = invivo.new(Knight, invivo.new(Quest))
            knight.damsels = self.breeder().fort.towers
            return knight

    class Tall(Fort):
        towers: int

    class Tower(Stable, name="tower"):
        def fort(self) -> Fort:
            return invivo.new(Tall, 5)

    with invivo.Runtime(stable := Tower()):
        assert stable.foal(2).age == 2
        assert stable.copy().damsels == 5


def test_providers_and_lazies_of_members() -> None:
    class Stable(Camelot, name="stable"):
        @invivo.prototype
        def horse(self, age: int) -> Horse:
            return invivo.new(Horse, age)

        @invivo.define
        def owner(self) -> Knight:
            owner = invivo.new(Knight, invivo.new(Quest))
            owner.make_horse = self.horse
            owner.later = invivo.lazy(self.weather.fort())
            return owner

        @invivo.define
        def old(self) -> Knight:
            owner = invivo.new(Knight, invivo.new(Quest))
            owner.make_horse = functools.partial(self.horse, 30)
            return owner

    with invivo.Runtime(stable := Stable()):
        owner = stable.owner()
        assert owner.make_horse(8).age == 8
        assert owner.make_horse(8) is not owner.make_horse(8)
        assert owner.later.value is stable.weather.fort()
        assert stable.old().make_horse().age == 30


# ---- overriding ----------------------------------------------------------------------------------------


class Avalon(Camelot):
    def fort(self) -> Fort:
        return invivo.new(Fort, towers=9)

    @invivo.define
    def knight(self, quest: Quest, damsels: int = 1) -> Knight:
        knight = super().knight(quest, damsels)
        knight.damsels = 40
        knight.motto = "overridden"
        return knight


def test_an_overridden_member_overrides_the_definition_for_everything_that_names_it() -> None:
    with invivo.Runtime(avalon := Avalon()) as runtime:
        assert avalon.name == "camelot"
        assert runtime["camelot.fort"].towers == 9
        knight = avalon.knight(Quest())
        assert (knight.name, knight.damsels, knight.motto, knight.fort.towers) == ("Galahad", 40, "overridden", 9)
        friend = avalon.pair().friend
        assert friend is not None
        assert friend.motto == "overridden"


def test_base_and_derived_activated_in_turn_never_bleed_into_each_other() -> None:
    for _ in range(3):
        for cls, towers in ((Camelot, 3), (Avalon, 9)):
            with invivo.Runtime(assembly := cls()):
                assert assembly.fort().towers == towers
                assert assembly.pair().fort.towers == towers
    with invivo.Runtime(base := Camelot()) as runtime:
        knight = runtime["camelot.fort"]
        assert knight.towers == 3
        runtime.activate(derived := Avalon())
        assert (runtime["camelot.fort"].towers, derived.fort().towers) == (9, 9)
        with pytest.raises(invivo.NotReadyError, match="another one took its place"):
            base.fort()
        runtime.activate(Camelot())
        assert runtime["camelot.fort"].towers == 3


# ---- two phases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "use"),
    [
        ("app[Fort]", lambda app: app[Fort]),
        ("app[fort]", lambda app: app["fort"]),
        ("resolve()", lambda app: app.resolve("fort")),
        ("resolve_optional()", lambda app: app.resolve_optional("fort")),
        ("resolve_all()", lambda app: app.resolve_all(Fort)),
        ("resolve_type()", lambda app: app.resolve_type(Fort)),
        ("inject()", lambda app: app.inject(object())),
        ("runtime", lambda app: app.runtime),
    ],
)
def test_before_activation_every_resolving_call_says_which_assembly_must_be_activated(call: str, use: Any) -> None:
    with pytest.raises(invivo.NotReadyError) as caught:
        use(Camelot())
    assert caught.value.message.startswith(f"{call} needs the assembly 'camelot' to be activated")
    assert caught.value.path == "camelot"


def test_activation_is_idempotent() -> None:
    with invivo.Runtime(weather := Weather()) as runtime:
        fort, generation = weather.fort(), runtime.info.generation
        runtime.activate(weather, weather)
        assert weather.fort() is fort
        assert runtime.info.generation == generation


def test_a_failed_activation_leaves_members_that_are_not_ready() -> None:
    class Broken(invivo.Assembly):
        @invivo.singleton
        def fort(self) -> Fort:
            return invivo.new(_fail)

    broken = Broken()
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.Error, match="on purpose") as caught:
            runtime.activate(broken)
        assert caught.value.file == __file__
        with pytest.raises(invivo.NotReadyError):
            broken.fort()
        assert "broken.fort" not in runtime


def _fail() -> Fort:
    raise LookupError("on purpose")


def test_an_assembly_can_be_taken_away_while_live() -> None:
    with invivo.Runtime(weather := Weather()) as runtime:
        gone = weakref.ref(weather.fort())
        runtime.deactivate(weather)
        gc.collect()
        assert gone() is None
        assert "weather.fort" not in runtime
        with pytest.raises(invivo.NotReadyError, match="was deactivated"):
            weather.fort()
        runtime.activate(weather)
        assert weather.fort().towers == 4
        with pytest.raises(invivo.StaleError):
            runtime.deactivate(Weather())


def test_what_others_need_cannot_be_taken_away() -> None:
    class Needy(Camelot, name="needy"):
        @invivo.lazy_singleton
        def home(self) -> Knight:
            knight = invivo.new(Knight, invivo.new(Quest))
            knight.fort = self.weather.fort()
            return knight

    with invivo.Runtime(needy := Needy()) as runtime:
        weather = needy.weather
        with pytest.raises(invivo.NotFoundError, match=r"weather\.fort.*needy\.home"):
            runtime.deactivate(weather)
        assert weather.fort().towers == 4
        runtime.deactivate(needy, weather)


def test_a_duplicate_key_names_both_places() -> None:
    with pytest.raises(invivo.ExistsError, match=r"camelot\.fort: the key is defined twice, at .*:\d+ and at .*:\d+"):
        invivo.Runtime(Camelot(), Avalon())
    app = invivo.Assembly("app")
    app.singleton(Fort)
    with pytest.raises(invivo.ExistsError, match=r"app\.fort: the key is defined twice, at .*:\d+ and at .*:\d+"):
        app.prototype(Fort)


def test_an_assembly_belongs_to_one_runtime_at_a_time() -> None:
    weather = Weather()
    with invivo.Runtime(weather), invivo.Runtime() as other, pytest.raises(invivo.ExistsError, match="another runtime"):
        other.activate(weather)
    with invivo.Runtime(weather):
        assert weather.fort().towers == 4


# ---- collaborators -------------------------------------------------------------------------------------


class Ping(invivo.Assembly):
    pong: Pong

    @invivo.lazy_singleton
    def knight(self) -> Knight:
        knight = invivo.new(Knight, invivo.new(Quest))
        knight.friend = self.pong.knight()
        return knight


class Pong(invivo.Assembly):
    ping: Ping

    @invivo.lazy_singleton
    def knight(self) -> Knight:
        knight = invivo.new(Knight, invivo.new(Quest))
        knight.friend = self.ping.knight()
        return knight


@pytest.mark.parametrize("first", [Ping, Pong])
def test_collaborators_come_along_transitively_in_a_cycle_too(first: Any) -> None:
    with invivo.Runtime(one := first()) as runtime:
        knight = one.knight()
        assert knight.friend.friend is knight
        assert {knight, knight.friend} == {runtime["ping.knight"], runtime["pong.knight"]}


def test_assemblies_are_activated_together_in_any_order_as_one_reload() -> None:
    for order in (0, 1):
        ping, pong = Ping(), Pong()
        with invivo.Runtime() as runtime:
            runtime.activate(*((ping, pong) if order else (pong, ping)))
            assert runtime.info.generation == 1
            assert ping.knight() is pong.knight().friend
            assert ping.pong is pong


def test_a_derived_assembly_stands_in_for_the_one_asked_for() -> None:
    class Storm(Weather):
        def fort(self) -> Fort:
            return invivo.new(Fort, 77)

    class Asking(Camelot, name="asking"):
        @invivo.define
        def home(self) -> Fort:
            return self.weather.fort()

    with invivo.Runtime(Storm(), asking := Asking()):
        assert asking.home().towers == 77
    with invivo.Runtime(asking := Asking()):
        assert asking.home().towers == 4
    asking = Asking()
    asking.weather = Storm()  # set by hand
    with invivo.Runtime(asking):
        assert asking.home().towers == 77


class Forts(Protocol):
    def fort(self) -> Fort: ...


class ByInterface(invivo.Assembly):
    forts: Forts = invivo.collaborator()

    @invivo.define
    def home(self) -> Fort:
        return self.forts.fort()


class ByKey(invivo.Assembly):
    other: Any = invivo.collaborator("weather")

    @invivo.define
    def home(self) -> Fort:
        return self.other.fort()


@pytest.mark.parametrize("cls", [ByInterface, ByKey])
def test_a_collaborator_is_found_by_interface_or_by_key(cls: Any) -> None:
    with invivo.Runtime(one := cls(), Weather()):
        assert one.home().towers == 4
    with invivo.Runtime(Weather()) as runtime:
        runtime.activate(one := cls())
        assert one.home().towers == 4


@pytest.mark.parametrize(("cls", "what"), [(ByInterface, "that is a Forts"), (ByKey, "named 'weather'")])
def test_an_unmet_collaborator_is_an_error_at_activation(cls: Any, what: str) -> None:
    with pytest.raises(invivo.NotFoundError, match=f"{what}, and none is given or active") as caught:
        invivo.Runtime(cls())
    assert caught.value.file == __file__
    with pytest.raises(invivo.NotReadyError):
        _ = (cls().forts if cls is ByInterface else cls().other).fort


# ---- mistakes ------------------------------------------------------------------------------------------


def error_of(*members: Any) -> invivo.Error:
    wrong = type("Wrong", (invivo.Assembly,), {member.name: member for member in members})
    with pytest.raises(invivo.Error) as caught:
        invivo.Runtime(wrong())
    return caught.value


def test_a_member_that_is_no_recipe_is_an_error_with_its_place() -> None:
    @invivo.define
    def fort(self: Any) -> Fort:
        return Fort(3)

    error = error_of(fort)
    assert "is no recipe" in error.message
    assert (error.path, error.file) == ("wrong.fort", __file__)
    assert error.line == fort.place["line"]


def test_a_property_set_twice_and_one_that_is_not_there_are_errors() -> None:
    @invivo.define
    def twice(self: Any) -> Horse:
        horse = invivo.new(Horse)
        horse.name = "a"
        horse.name = "b"
        return horse

    assert "'name' is set twice" in error_of(twice).message

    @invivo.define
    def missing(self: Any) -> Horse:
        horse: Any = invivo.new(Horse)
        horse.nmae = "a"
        return horse

    error = error_of(missing)
    assert "name" in error.message
    assert error.path == "wrong.missing.nmae"

    @invivo.define
    def nobody(self: Any) -> Knight:
        knight: Any = invivo.new(Knight, invivo.new(Quest))
        knight.shout("a")
        return knight

    assert isinstance(error_of(nobody), invivo.MethodError)


def test_all_mistakes_of_an_activation_are_told_at_once() -> None:
    @invivo.define
    def one(self: Any) -> Horse:
        horse: Any = invivo.new(Horse)
        horse.nmae = "a"
        return horse

    @invivo.define
    def other(self: Any) -> Knight:
        knight: Any = invivo.wire(Knight)
        return knight

    errors = error_of(one, other).errors
    assert [each.path for each in errors] == ["wrong.one.nmae", "wrong.other"]
    assert "'quest' needs a 'Quest'" in errors[1].message


class Tenant:
    def __init__(self, home: House) -> None:
        self.home = home


class House(invivo.Assembly):
    @invivo.lazy_singleton
    def tenant(self) -> Tenant:
        return invivo.new(Tenant, self)

    @invivo.prototype
    def clock(self) -> object:
        return invivo.new(object)


def test_the_assembly_itself_may_be_injected() -> None:
    with invivo.Runtime(house := House()):
        tenant = house.tenant()
        assert tenant.home is house
        assert tenant.home.clock() is not tenant.home.clock()  # by then it is active


def test_a_recipe_is_not_the_object() -> None:
    fort: Any = invivo.ref("weather.fort")
    for use in (lambda: bool(fort), lambda: list(fort), lambda: setattr(fort, "towers", 3)):
        with pytest.raises((TypeError, AttributeError), match="recipe"):
            use()


def test_a_member_may_not_have_the_name_of_a_method_of_every_assembly() -> None:
    with pytest.raises(invivo.ArgumentError, match="every assembly has a resolve"):

        class Wrong(invivo.Assembly):
            @invivo.define
            def resolve(self) -> Fort:  # type: ignore[override]
                return invivo.new(Fort)


def test_a_method_that_describes_and_is_not_decorated_is_told_so() -> None:
    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def fort(self) -> Fort:
            return self.helped()

        def helped(self) -> Fort:
            return invivo.new(Fort, 5)

        def number(self) -> int:
            return 5

    with invivo.Runtime(app := App()):
        assert app.fort().towers == 5, "a method may help to describe"
        assert app.number() == 5
        with pytest.raises(invivo.NotReadyError, match=r"App\.helped\(\) describes an object.*decorate") as told:
            app.helped()
        assert told.value.file == __file__


def test_a_child_without_a_class_is_found_by_its_parents() -> None:
    class Holder:
        def __init__(self, fort: Fort) -> None:
            self.fort = fort

    class App(invivo.Assembly):
        @invivo.define(abstract=True)
        def base(self) -> Fort:
            return invivo.new(Fort, 7)

        @invivo.lazy_singleton
        def child(self) -> Fort:
            return invivo.child(self.base())

        @invivo.lazy_singleton
        def holder(self) -> Holder:
            return invivo.wire(Holder)

    with invivo.Runtime(app := App()) as runtime:
        assert Fort in runtime
        assert runtime[Fort] is app.child() is app.holder().fort is runtime.resolve_type(Fort)
        assert runtime[Fort].towers == 7
        assert runtime.resolve_optional(Fort) is app.child()
        runtime.define(Holder, "app.other")
        assert runtime["app.other"].fort is app.child()


NAMES = Path(__file__).resolve().parents[3] / "Tests" / "Cases" / "assembly_names.txt"


def test_a_class_gives_its_assembly_the_name_that_it_has_in_swift() -> None:
    table = [line.split() for line in NAMES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = [[name, types.new_class(name, (invivo.Assembly,))().name] for name, _ in table]
    assert found == table


def test_an_activation_parses_no_source_and_knows_where_its_class_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing fails in CPython 3.11 while another thread parses."""

    def fail(_: object) -> Any:
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(inspect, "findsource", fail)

    class Other(invivo.Assembly): ...

    line = inspect.currentframe().f_lineno  # type: ignore[union-attr]

    class Alone(invivo.Assembly, abc.ABC):
        other: Other

        @invivo.prototype
        def fort(self) -> Fort:
            return invivo.new(Fort)

    with invivo.Runtime(Other()) as runtime:
        alone = Alone()
        runtime.activate(alone)
        assert alone.fort().towers == 1

    class First(Other, name="first"): ...

    class Second(Other, name="second"): ...

    with pytest.raises(invivo.AmbiguousError) as found:
        invivo.Runtime(First(), Second(), Alone())
    assert (found.value.file, found.value.line) == (__file__, line + 2)


@pytest.mark.parametrize("above", [functools.lru_cache, functools.cached_property, property, staticmethod, classmethod])
def test_a_decorator_above_that_of_a_definition_is_refused(above: Any) -> None:
    with pytest.raises(invivo.ArgumentError, match=r"Castle\.fort: .*put its decorator above all others") as found:

        class Castle(invivo.Assembly):
            @above  # type: ignore[untyped-decorator]
            @invivo.lazy_singleton
            def fort(self) -> Fort:
                return invivo.new(Fort)

    assert found.value.file == __file__


def test_a_function_that_wraps_a_definition_is_refused() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*given: Any) -> Any:
            return function(*given)

        return call

    with pytest.raises(invivo.ArgumentError, match="wrapped in a function"):

        class Castle(invivo.Assembly):
            @logged
            @invivo.lazy_singleton
            def fort(self) -> Fort:
                return invivo.new(Fort)


def test_a_scope_without_its_name_is_refused() -> None:
    with pytest.raises(invivo.ArgumentError, match="in_scope takes the name of a scope"):

        class Castle(invivo.Assembly):
            @invivo.in_scope  # type: ignore[arg-type]
            def fort(self) -> Fort:
                return invivo.new(Fort)


def filled(**classes: type) -> invivo.Assembly:
    made = invivo.Assembly("b")
    for name, cls in classes.items():
        made.lazy_singleton(cls, name)
    return made


def test_an_assembly_that_is_filled_one_by_one_replaces_another_one_of_its_name() -> None:
    def keys() -> list[str]:
        return sorted(node.key for node in runtime.wiring)

    first, second = filled(x=Fort, y=Horse), filled(x=Quest, z=Horse)
    with invivo.Runtime(first) as runtime:
        runtime.activate(second)
        assert keys() == ["b.x", "b.z"]
        assert type(runtime["b.x"]) is Quest
        with pytest.raises(invivo.StaleError):
            runtime.remove(first)
        runtime.activate(first)
        assert keys() == ["b.x", "b.y"]
        # It may be filled further.
        first.lazy_singleton(Quest, "w")
        runtime.activate(first)
        assert keys() == ["b.w", "b.x", "b.y"]

        class Described(invivo.Assembly):
            @invivo.lazy_singleton
            def y(self) -> Horse:
                return invivo.new(Horse)

        horse = runtime["b.y"]
        runtime.activate(described := Described("b"))
        assert keys() == ["b.y"]
        runtime.activate(filled(y=Horse))
        assert keys() == ["b.y"]
        assert horse is not None
        assert not described.is_active_in(runtime)


@pytest.mark.parametrize("is_described", [False, True])
def test_two_assemblies_of_one_name_in_one_change_set_are_refused(is_described: bool) -> None:
    class WithFort(invivo.Assembly):
        @invivo.lazy_singleton
        def x(self) -> Fort:
            return invivo.new(Fort)

    class WithHorse(invivo.Assembly):
        @invivo.lazy_singleton
        def y(self) -> Horse:
            return invivo.new(Horse)

    def made() -> tuple[invivo.Assembly, invivo.Assembly]:
        return (WithFort("b"), WithHorse("b")) if is_described else (filled(x=Fort), filled(y=Horse))

    with invivo.Runtime() as runtime:
        first, second = made()
        with runtime.changes() as changes:
            changes.activate(first)
            with pytest.raises(invivo.ExistsError, match="b: two assemblies of one change set have the name 'b'"):
                changes.activate(second)
        with pytest.raises(invivo.ExistsError, match="b: two assemblies of one change set have the name 'b'"):
            runtime.activate(*made())
        assert [node.key for node in runtime.wiring] == ["b.x"]
