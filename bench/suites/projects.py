"""Projects whose source distributions carry recorded LLM tests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Project:
    """One project: what is installed, and which of its tests have recordings."""

    name: str
    version: str
    needs: tuple[str, ...]
    """What its tests need beside pytest and vcrpy."""
    tests: tuple[str, ...]
    plugin: str = "pytest-recording"
    """What plays its recordings; pytest-recording and pytest-vcr refuse to run together."""


PROJECTS = (
    Project(
        "chatlas",
        "0.23.0",
        (
            "pytest-asyncio",
            "syrupy>=4",
            "opentelemetry-sdk",
            "aiohttp<3.14",
            "anthropic[bedrock]",
            "google-genai",
            "databricks-sdk",
            "python-dotenv",
            "tenacity",
            "pillow",
        ),
        (
            "tests/test_provider_anthropic.py",
            "tests/test_provider_openai.py",
            "tests/test_provider_google.py",
            "tests/test_chat.py",
            "tests/test_provider_openai_completions.py",
            "tests/test_provider_bedrock.py",
            "tests/test_otel.py",
            "tests/test_provider_huggingface.py",
            "tests/test_parallel_chat_improved.py",
            "tests/test_provider_databricks.py",
            "tests/test_provider_mistral.py",
            "tests/test_echo_display_providers.py",
        ),
    ),
    Project(
        "langchain-anthropic",
        "1.7.7",
        ("langchain", "langchain-tests", "pytest-asyncio", "blockbuster", "pytest-retry", "requests", "syrupy>=5"),
        ("tests/integration_tests",),
    ),
    Project(
        "langchain-openai",
        "1.7.3",
        (
            "langchain",
            "langchain-tests",
            "pytest-asyncio",
            "pytest-retry",
            "requests",
            "syrupy>=5",
            "numpy",
            "langgraph",
            "pytest-cov",
        ),
        ("tests/integration_tests",),
    ),
    Project(
        "magentic",
        "0.41.1",
        (
            "openai==1.109.1",
            "anthropic==0.42.0",
            "litellm<1.81",
            "logfire==0.49.1",
            "pydantic<2.12",
            "httpx==0.27.2",
            "inline-snapshot",
            "pytest-asyncio",
            "pytest-cov",
            "pytest-mock",
            "python-dotenv",
        ),
        (
            "tests/chat_model/test_anthropic_chat_model.py",
            "tests/chat_model/test_openai_chat_model.py",
            "tests/chat_model/test_mistral_chat_model.py",
            "tests/test_prompt_function.py",
            "tests/test_chatprompt.py",
        ),
    ),
    Project(
        "mirascope",
        "2.8.2",
        (
            "anthropic==0.78.0",
            "fastmcp==2.14.4",
            "google-genai==1.60.0",
            "inline-snapshot==0.31.1",
            "libcst",
            "mcp==1.26.0",
            "openai==2.16.0",
            "opentelemetry-sdk==1.39.1",
            "orjson",
            "pillow<11",
            "proto-plus",
            "pytest-asyncio==1.3.0",
            "pytest-httpserver",
            "pytest==9.0.2",
        ),
        (
            "tests/e2e/output/test_call.py",
            "tests/e2e/output/test_call_with_tools.py",
            "tests/e2e/output/test_refusal.py",
        ),
        plugin="pytest-vcr",
    ),
    Project(
        "openinference-instrumentation-google-genai",
        "1.4.14",
        ("google-genai==2.0.1", "opentelemetry-sdk", "pytest-asyncio", "respx"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-openai-v2",
        "2.4b0",
        (
            "openai==2.26.0",
            "httpx==0.27.2",
            "opentelemetry-sdk",
            "opentelemetry-util-genai==0.4b0",
            "pytest-asyncio",
            "opentelemetry-test-utils",
        ),
        ("tests",),
        plugin="pytest-vcr",
    ),
    Project(
        "opentelemetry-instrumentation-cohere",
        "0.62.4",
        ("cohere>=5.18.0,<6", "opentelemetry-sdk", "pytest-asyncio"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-mistralai",
        "0.62.4",
        ("mistralai<2", "opentelemetry-sdk", "pytest-asyncio"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-groq", "0.62.4", ("groq", "opentelemetry-sdk", "pytest-asyncio"), ("tests",)
    ),
    Project(
        "opentelemetry-instrumentation-anthropic",
        "0.62.4",
        ("anthropic[bedrock]>=0.86.0,<1", "opentelemetry-sdk", "pytest-asyncio<0.24", "pytest<9"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-openai",
        "0.62.4",
        ("openai[datalib]==1.99.7", "httpx<0.28", "opentelemetry-sdk", "pytest-asyncio<0.24", "pytest<9", "requests"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-bedrock",
        "0.62.4",
        ("boto3", "aioboto3<15", "aiobotocore<3", "opentelemetry-sdk", "pytest-asyncio<1", "pytest<9"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-langchain",
        "0.62.4",
        (
            "anthropic<0.83",
            "boto3",
            "langchain-anthropic<2",
            "langchain-aws<2",
            "langchain-classic<2",
            "langchain-cohere<0.6",
            "langchain-community<0.5",
            "langchain-huggingface<2",
            "langchain-openai<2",
            "langchain<2",
            "langchainhub",
            "langgraph<2",
            "openai<3",
            "opentelemetry-instrumentation-bedrock",
            "opentelemetry-instrumentation-openai",
            "opentelemetry-sdk",
            "pytest-asyncio<1.4",
            "pytest<9",
        ),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-ollama",
        "0.62.4",
        ("ollama<0.5", "opentelemetry-sdk", "pytest-asyncio<0.24", "pytest<9"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-writer",
        "0.62.4",
        ("writer-sdk<3", "opentelemetry-sdk", "pytest-asyncio<0.24", "pytest<9", "python-dotenv"),
        ("tests",),
    ),
    Project(
        "traceloop-sdk",
        "0.62.4",
        ("openai<3", "anthropic<1", "langchain<2", "langchain-openai<2", "pandas", "pytest-asyncio<1.4", "pytest<9"),
        ("tests",),
    ),
    Project(
        "opentelemetry-instrumentation-botocore",
        "0.66b2",
        ("boto3", "moto", "aiobotocore", "opentelemetry-sdk", "opentelemetry-test-utils", "pytest-asyncio"),
        ("tests",),
        plugin="pytest-vcr",
    ),
)
"""Read of the source distributions on PyPI, 2026-11. Nothing of them is kept."""
