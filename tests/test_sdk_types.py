"""The guard that compares SDKs with what is read: it names what is missing, and it is not fooled by a listed word."""

from importlib.metadata import version
from typing import Annotated, Literal, Required, TypedDict

import typing_extensions
from pydantic import BaseModel, Field
from sdk_types import Json, field_samples, is_model, literals, members, not_covered, samples, since


class Said(BaseModel):
    type: Literal["said"]
    text: str | None = None
    when: list[int] = []


class Inner(TypedDict, total=False):
    type: Required[Literal["inner"]]
    other_name: str


class Called(BaseModel):
    type: Literal["called", "called_2"]
    content: str | Inner | list[Said | Inner]
    from_: str = Field(alias="from")


type Union = Annotated[Said | Called, "a discriminator"]


def is_said(value: Json) -> bool:
    return value["type"] == "said"


def test_a_union_gives_its_members_however_it_is_nested() -> None:
    assert members(Union) == [Said, Called]
    assert members(Annotated[Said | None, "x"] | Inner) == [Said, Inner]
    assert literals(Literal["a", "b"] | None) == ["a", "b"]


def test_a_sample_fills_every_field_under_its_name_on_the_wire() -> None:
    found = samples(Union)

    assert found["said"][0] == {"type": "said", "text": "a text", "when": [7]}
    assert found["called"][0]["from"] == "a from"
    assert {"type": "inner", "other_name": "a other_name"} in [one["content"] for one in found["called"]]
    assert [{"type": "inner", "other_name": "a other_name"}] in [one["content"] for one in found["called"]]
    assert "a content" in [one["content"] for one in found["called"]]
    assert [one["type"] for one in found["called_2"]] == ["called_2"] * len(found["called"])


def test_a_member_that_is_neither_read_nor_listed_is_named() -> None:
    missing = ["called is neither read nor listed", "called_2 is neither read nor listed"]

    assert not_covered(samples(Union), is_said, {}) == missing
    assert not_covered(samples(Union), is_said, {"called": "kept raw"}) == missing[1:]
    assert not_covered(samples(Union), is_said, {"called": "kept raw", "called_2": "kept raw"}) == []


def test_a_member_is_read_only_if_all_its_shapes_are() -> None:
    found = {"said": [{"type": "said"}, {"type": "else"}]}

    assert not_covered(found, is_said, {}) == ["said is neither read nor listed"]


def test_a_listed_member_that_is_read_is_named() -> None:
    assert not_covered(samples(Said), is_said, {"said": "kept raw"}) == ["said is listed, but it is read"]


def test_an_api_that_names_a_shape_by_its_only_field_has_a_sample_for_each() -> None:
    assert field_samples(Said)["when"] == [{"when": [7]}]


def test_an_sdk_that_is_older_than_the_one_that_was_read_is_not_compared() -> None:
    major = int(version("pydantic").split(".")[0])

    assert since("pydantic", major + 1).args == (True,)
    assert since("pydantic", major).args == since("pydantic", 1, 99, 99).args == (False,)


def test_a_typed_dictionary_of_either_module_is_a_model() -> None:
    class Other(typing_extensions.TypedDict):
        type: Literal["other"]

    assert is_model(Other) and is_model(Inner) and not is_model(dict)
