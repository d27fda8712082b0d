"""The JSON that a request demands of the answer's text, in the shapes that several APIs share."""

from ...json_value import Object, as_object, as_text, is_object, parse_json
from ...values import OutputFormat


def schema_format(schema: object, pointer: str, *, enforced: bool = True) -> OutputFormat:
    """JSON that follows a schema, which may be JSON in a string; an empty schema allows any JSON."""
    value = parse_json(schema) if isinstance(schema, str) else schema
    return OutputFormat(pointer, value if is_object(value) and value else None, enforced)


def response_format(value: object, pointer: str) -> OutputFormat | None:
    """`response_format` as OpenAI has it, and as others changed it; None when it does not ask for JSON.

    The schema is in `json_schema.schema`, in `schema` (llama.cpp, Together, Cohere), in `value` (Hugging Face), or is
    `json_schema` itself (Cohere version 2).
    """
    fields = as_object(value)
    if fields.get("type") not in ("json_schema", "json_object", "json"):
        return None
    named = as_object(fields.get("json_schema"))
    wrapped = "schema" in named and "properties" not in named
    schema = named.get("schema") if wrapped else fields.get("schema") or fields.get("value") or named
    # OpenAI names a schema, and follows it only where `strict` says so. A schema without a name is always followed.
    holder = named if wrapped else fields
    return schema_format(schema, pointer, enforced=holder.get("strict") is True or "name" not in holder)


def mime_format(mime: object, schema: object, pointer: str) -> OutputFormat | None:
    """A format as Google's APIs name it: a media type, and a schema that counts for JSON alone."""
    kind = (as_text(mime) or "").lower()
    if kind.endswith("/json") or (not kind and is_object(schema) and schema):
        return schema_format(schema, pointer)
    return None


def chat_format(fields: Object) -> OutputFormat | None:
    """What a chat request demands: `response_format`, or the fields that llama.cpp and vLLM have for a schema."""
    if "response_format" in fields:
        return response_format(fields["response_format"], "/response_format")
    if is_object(schema := fields.get("json_schema")):
        return schema_format(schema, "/json_schema")
    if guided := fields.get("guided_json"):
        return schema_format(guided, "/guided_json")
    if structured := as_object(fields.get("structured_outputs")).get("json"):
        return schema_format(structured, "/structured_outputs/json")
    return None
