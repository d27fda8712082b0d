"""The messages of MCP as JSON Schema: every field that the specification has, by method.

What versions do differently is left open. An optional field that is `null` is another matter than one of a wrong type:
`relaxed` gives the form in which each may be null
(https://modelcontextprotocol.io/specification/2025-11-25/schema and `2026-07-28/schema`, read 2026-11-24).
"""

from collections.abc import Mapping

from ..wire.json_value import Object, as_array, as_object, is_array, is_object
from ..wire.protocols.mcp.shape import META

_TEXT: Object = {"type": "string"}
_NAME: Object = {"type": "string", "minLength": 1}
_NUMBER: Object = {"type": "number"}
_WHOLE: Object = {"type": "integer"}
_YES_OR_NO: Object = {"type": "boolean"}
_ANY_OBJECT: Object = {"type": "object"}
_ID: Object = {"type": ["string", "integer"]}
_BASE64: Object = {"type": "string", "pattern": r"^[A-Za-z0-9+/_=\s-]*$"}
_ADDRESS: Object = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:"}
_FILE: Object = {"type": "string", "pattern": "^file:"}
"""MCP wants URLs of files only as roots."""
_ROLE: Object = {"enum": ["user", "assistant"]}
_SHARE: Object = {"type": "number", "minimum": 0, "maximum": 1}


def _object(*required: str, **properties: object) -> Object:
    return {"type": "object", "required": list(required), "properties": properties}


def _list(of: object) -> Object:
    return {"type": "array", "items": of}


def _when(kind: str, then: Object) -> Object:
    """A schema that holds for blocks of this type."""
    return {"if": _object("type", type={"const": kind}), "then": then}


def _message(*required: str, **properties: object) -> Object:
    """The parameters or the result of a message."""
    return _object(*required, _meta=_object(progressToken=_ID), **properties)


_TEXTS = _list(_TEXT)
_NOTES = _object(audience=_list(_ROLE), priority=_SHARE, lastModified=_TEXT)
_BESIDE: Object = {"annotations": _NOTES, "_meta": _ANY_OBJECT}
_ICONS = _list(_object("src", src=_TEXT, mimeType=_TEXT, sizes={"type": ["array", "string"], "items": _TEXT},
                       theme={"enum": ["light", "dark"]}))  # fmt: skip
_NAMED: Object = {"name": _TEXT, "title": _TEXT, "description": _TEXT, "icons": _ICONS}
_SIDE = _object("name", "version", **_NAMED, version=_TEXT, websiteUrl=_TEXT)
_CAPABILITIES: Object = {
    **_object(
        roots=_object(listChanged=_YES_OR_NO),
        prompts=_object(listChanged=_YES_OR_NO),
        resources=_object(listChanged=_YES_OR_NO, subscribe=_YES_OR_NO),
        tools=_object(listChanged=_YES_OR_NO),
        sampling=_object(context=_ANY_OBJECT, tools=_ANY_OBJECT),
        elicitation=_object(form=_ANY_OBJECT, url=_ANY_OBJECT),
        tasks=_object(list=_ANY_OBJECT, cancel=_ANY_OBJECT, requests=_ANY_OBJECT),
    ),
    "additionalProperties": {"type": "object"},
}
_CONTENTS = _object("uri", uri=_ADDRESS, mimeType=_TEXT, _meta=_ANY_OBJECT) | {
    "anyOf": [_object("text", text=_TEXT), _object("blob", blob=_BASE64)]
}
_RESOURCE = _object("uri", "name", **_NAMED, **_BESIDE, uri=_ADDRESS, mimeType=_TEXT, size=_WHOLE)
_TEMPLATE = _object("uriTemplate", "name", **_NAMED, **_BESIDE, uriTemplate=_TEXT, mimeType=_TEXT)
_MEDIUM = _object("data", "mimeType", data=_BASE64, mimeType=_TEXT)
_KINDS: Mapping[str, Object] = {
    "text": _object("text", text=_TEXT),
    "image": _MEDIUM,
    "audio": _MEDIUM,
    "resource": _object("resource", resource=_CONTENTS),
    "resource_link": _RESOURCE,
    "tool_use": _object("id", "name", "input", id=_TEXT, name=_TEXT, input=_ANY_OBJECT),
    "tool_result": _object("toolUseId", "content", toolUseId=_TEXT, content={"type": "array"}, isError=_YES_OR_NO),
}
_BLOCK: Object = {**_object("type", type=_TEXT, **_BESIDE), "allOf": [_when(kind, one) for kind, one in _KINDS.items()]}
_BLOCKS: Object = {"type": ["object", "array"], "if": _ANY_OBJECT, "then": _BLOCK, "else": {"items": _BLOCK}}
"""One block, or from version 2025-11-25 on a list of them."""
_HINTS = dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), _YES_OR_NO)
_SUPPORT: Object = {"enum": ["forbidden", "optional", "required"]}
_TOOL = _object(
    "name", "inputSchema", **{**_NAMED, "name": _NAME}, _meta=_ANY_OBJECT, annotations=_object(title=_TEXT, **_HINTS),
    inputSchema=_object(type={"const": "object"}), execution=_object(taskSupport=_SUPPORT),
)  # fmt: skip
_PROMPT = _object(
    "name", **_NAMED, _meta=_ANY_OBJECT,
    arguments=_list(_object("name", name=_TEXT, title=_TEXT, description=_TEXT, required=_YES_OR_NO)),
)  # fmt: skip
_ASKED_AS_TASK = _object(ttl={"type": ["integer", "null"]})
_STATES = ["working", "input_required", "completed", "failed", "cancelled"]
_TASK: Object = {"taskId": _TEXT, "status": {"enum": _STATES}, "statusMessage": _TEXT, "createdAt": _TEXT,
                 "lastUpdatedAt": _TEXT, "ttl": {"type": ["integer", "null"]}, "pollInterval": _WHOLE}  # fmt: skip
_LEVEL: Object = {"enum": ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]}
_PLAIN = ["string", "number", "integer", "boolean", "array"]
"""What a field of a form may be: forms are flat."""
_PAGE = _message(cursor=_TEXT)
_BY_ADDRESS = _message("uri", uri=_ADDRESS)
_BY_TASK = _message("taskId", taskId=_TEXT)
_REFERENCE: Object = {
    **_object("type", type={"enum": ["ref/prompt", "ref/resource"]}),
    "allOf": [_when("ref/prompt", _object("name", name=_TEXT, title=_TEXT)),
              _when("ref/resource", _object("uri", uri=_TEXT))],
}  # fmt: skip
_PREFERENCES = _object(
    costPriority=_SHARE, speedPriority=_SHARE, intelligencePriority=_SHARE, hints=_list(_object(name=_TEXT))
)

PARAMS: Mapping[str, Object] = {
    "initialize": _message("protocolVersion", "capabilities", "clientInfo", protocolVersion=_TEXT,
                           capabilities=_CAPABILITIES, clientInfo=_SIDE),
    "tools/list": _PAGE,
    "tools/call": _message("name", name=_TEXT, arguments=_ANY_OBJECT, task=_ASKED_AS_TASK),
    "prompts/list": _PAGE,
    "prompts/get": _message("name", name=_TEXT, arguments={"type": "object", "additionalProperties": _TEXT}),
    "resources/list": _PAGE,
    "resources/templates/list": _PAGE,
    "resources/read": _BY_ADDRESS,
    "resources/subscribe": _BY_ADDRESS,
    "resources/unsubscribe": _BY_ADDRESS,
    "logging/setLevel": _message("level", level=_LEVEL),
    "completion/complete": _message(
        "ref", "argument", ref=_REFERENCE, argument=_object("name", "value", name=_TEXT, value=_TEXT),
        context=_object(arguments={"type": "object", "additionalProperties": _TEXT})),
    "sampling/createMessage": _message(
        "messages", "maxTokens", maxTokens=_WHOLE, systemPrompt=_TEXT, temperature=_NUMBER, stopSequences=_TEXTS,
        metadata=_ANY_OBJECT, modelPreferences=_PREFERENCES, task=_ASKED_AS_TASK, tools=_list(_TOOL),
        includeContext={"enum": ["none", "thisServer", "allServers"]},
        toolChoice=_object(mode={"enum": ["auto", "required", "none"]}),
        messages=_list(_object("role", "content", role=_ROLE, content=_BLOCKS))),
    "elicitation/create": _message("message", message=_TEXT, task=_ASKED_AS_TASK) | {
        "if": _object("mode", mode={"const": "url"}),
        "then": _object("url", url=_TEXT, elicitationId=_TEXT),
        "else": _object("requestedSchema", requestedSchema=_object(
            "type", type={"const": "object"}, required=_TEXTS,
            properties={"type": "object", "additionalProperties": _object(type={"enum": _PLAIN})})),
    },
    "roots/list": _message(),
    "ping": _message(),
    "tasks/get": _BY_TASK,
    "tasks/result": _BY_TASK,
    "tasks/cancel": _BY_TASK,
    "tasks/list": _PAGE,
}  # fmt: skip
"""By method: the parameters of a request."""

REPLIES: Mapping[str, Object] = {
    "sampling/createMessage": _message("role", "content", "model", role=_ROLE, content=_BLOCKS, model=_TEXT,
                                       stopReason=_TEXT),
    "elicitation/create": _message("action", action={"enum": ["accept", "decline", "cancel"]}, content=_ANY_OBJECT),
    "roots/list": _message("roots", roots=_list(_object("uri", uri=_FILE, name=_TEXT))),
}  # fmt: skip
"""By method: what a client answers."""

ANSWERS: Mapping[str, Object] = {
    "initialize": _message("protocolVersion", "capabilities", "serverInfo", protocolVersion=_TEXT, instructions=_TEXT,
                           capabilities=_CAPABILITIES, serverInfo=_SIDE),
    "server/discover": _message("supportedVersions", "capabilities", supportedVersions=_TEXTS, instructions=_TEXT,
                                capabilities=_CAPABILITIES),
    "tools/list": _message("tools", nextCursor=_TEXT, tools=_list(_TOOL)),
    "tools/call": _message(content=_list(_BLOCK), isError=_YES_OR_NO),
    "resources/list": _message("resources", nextCursor=_TEXT, resources=_list(_RESOURCE)),
    "resources/templates/list": _message("resourceTemplates", nextCursor=_TEXT, resourceTemplates=_list(_TEMPLATE)),
    "resources/read": _message("contents", contents=_list(_CONTENTS)),
    "prompts/list": _message("prompts", nextCursor=_TEXT, prompts=_list(_PROMPT)),
    "prompts/get": _message("messages", description=_TEXT,
                            messages=_list(_object("role", "content", role=_ROLE, content=_BLOCK))),
    "completion/complete": _message("completion", completion=_object(
        "values", values={**_TEXTS, "maxItems": 100}, total=_WHOLE, hasMore=_YES_OR_NO)),
    "tasks/get": _message("taskId", "status", **_TASK),
    "tasks/cancel": _message(**_TASK),
    "tasks/list": _message("tasks", nextCursor=_TEXT, tasks=_list(_object("taskId", "status", **_TASK))),
}  # fmt: skip
"""By method: what a server answers."""

NOTICES: Mapping[str, Object] = {
    "notifications/progress": _message(
        "progressToken", "progress", progressToken=_ID, progress=_NUMBER, total=_NUMBER, message=_TEXT),
    "notifications/message": _message("level", "data", level=_LEVEL, logger=_TEXT),
    "notifications/cancelled": _message("requestId", requestId=_ID, reason=_TEXT),
    "notifications/resources/updated": _message("uri", uri=_TEXT),
    "notifications/tasks/status": _message("taskId", "status", **_TASK),
    "notifications/elicitation/complete": _message("elicitationId", elicitationId=_TEXT),
    **dict.fromkeys(
        ("notifications/initialized", "notifications/roots/list_changed", "notifications/tools/list_changed",
         "notifications/prompts/list_changed", "notifications/resources/list_changed"), _message()),
}  # fmt: skip
"""By method: what is said without an answer."""

BEFORE_ANY_JSON: Mapping[str, Object] = {
    "tools/list": _object(tools=_list(_object(
        inputSchema=_object("type"), outputSchema=_object("type", type={"const": "object"})))),
    "tools/call": _object(structuredContent={"not": {"type": "null"}}),
}  # fmt: skip
"""What answers need in addition in versions before 2026-07-28: schemas and structured content are of objects."""


# Version 2026-07-28 adds these to the tables above.

_OF_CLIENT = _object(
    progressToken=_ID,
    **{f"{META}protocolVersion": _TEXT, f"{META}clientInfo": _SIDE, f"{META}clientCapabilities": _CAPABILITIES,
       f"{META}logLevel": _LEVEL},
)  # fmt: skip
_OF_SERVER = _object(**{f"{META}serverInfo": _SIDE})
_ASKED = _object(_meta=_OF_CLIENT)
_REPEATABLE = _object(_meta=_OF_CLIENT, requestState=_TEXT, inputResponses=_ANY_OBJECT)
_LISTENS = _object("notifications", notifications=_object(
    toolsListChanged=_YES_OR_NO, promptsListChanged=_YES_OR_NO, resourcesListChanged=_YES_OR_NO,
    resourceSubscriptions=_TEXTS))  # fmt: skip
_TYPED = _object("resultType", resultType=_TEXT, _meta=_OF_SERVER)
_KEEPABLE = _object(
    "resultType", "ttlMs", "cacheScope", resultType=_TEXT, _meta=_OF_SERVER, ttlMs={"type": "integer", "minimum": 0},
    cacheScope={"enum": ["public", "private"]},
)  # fmt: skip
_TAGGED = _object("_meta", _meta=_object(f"{META}subscriptionId", **{f"{META}subscriptionId": _ID}))
"""A notice that a client only gets by a subscription names it."""

MODERN_PARAMS: Mapping[str, Object] = {
    **dict.fromkeys(("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
                     "completion/complete"), _ASKED),
    **dict.fromkeys(("tools/call", "prompts/get", "resources/read"), _REPEATABLE),
    "subscriptions/listen": {"allOf": [_ASKED, _LISTENS]},
}  # fmt: skip
"""By method: what the parameters of a request need in addition."""

MODERN_ANSWERS: Mapping[str, Object] = {
    **dict.fromkeys(("server/discover", "prompts/list", "resources/list", "resources/templates/list", "resources/read"),
                    _KEEPABLE),
    **dict.fromkeys(("tools/call", "prompts/get", "completion/complete", "subscriptions/listen"), _TYPED),
    "tools/list": {"allOf": [_KEEPABLE, _object(tools=_list(_object(
        inputSchema=_object("type", **{"$schema": _TEXT}), outputSchema=_object(**{"$schema": _TEXT}))))]},
}  # fmt: skip
"""By method: what an answer needs in addition. Clients take one without: it may be that of an older server."""

MODERN_NOTICES: Mapping[str, Object] = {
    **dict.fromkeys(("notifications/tools/list_changed", "notifications/prompts/list_changed",
                     "notifications/resources/list_changed", "notifications/resources/updated"), _TAGGED),
    "notifications/subscriptions/acknowledged": {"allOf": [_TAGGED, _LISTENS]},
}  # fmt: skip
"""By method: what a notice of a server needs in addition."""


def relaxed(schema: Object) -> Object:
    """The schema, with null allowed in the place of each field that may be left out."""
    made = {key: _relaxed_within(value) for key, value in schema.items() if key != "properties"}
    needed = as_array(schema.get("required"))
    fields = as_object(schema.get("properties"))
    if fields:
        made["properties"] = {
            name: relaxed(as_object(one)) if name in needed else _or_null(relaxed(as_object(one)))
            for name, one in fields.items()
        }
    return made


def _relaxed_within(value: object) -> object:
    if is_object(value):
        return relaxed(value)
    return [_relaxed_within(one) for one in value] if is_array(value) else value


def _or_null(schema: Object) -> Object:
    if "type" in schema:
        kinds = as_array(schema["type"]) or [schema["type"]]
        return {**schema, "type": [*(kind for kind in kinds if kind != "null"), "null"]}
    if "enum" in schema:
        return {**schema, "enum": [*as_array(schema["enum"]), None]}
    return schema if "const" in schema else {}
