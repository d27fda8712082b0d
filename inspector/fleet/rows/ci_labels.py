"""Labels of a run from the environment of a CI: repository, branch, commit, pull request and job.

Names of variables as documented, read 2026-11-22:
https://docs.github.com/en/actions/reference/workflows-and-actions/variables ·
https://docs.gitlab.com/ci/variables/predefined_variables/ ·
https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables (branch and change variables:
https://plugins.jenkins.io/workflow-multibranch/) ·
https://buildkite.com/docs/pipelines/configure/environment-variables
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

_REMOTE_BRANCH = regex(r"(?:refs/(?:heads|remotes)/)?(?:origin/)?(.+)")
_GITHUB_PULL = regex(r"refs/pull/(\d+)/")
_REPOSITORY = regex(r"[/:]([^/:]+/[^/]+?)(?:\.git)?/?$")


@frozen
class CiEnvironment:
    """One CI: the variable that shows it, and for each label the variables that may hold it, best first."""

    name: str
    shown_by: str
    labels: Mapping[str, tuple[str, ...]]


GITHUB = CiEnvironment(
    "github",
    "GITHUB_ACTIONS",
    {
        "repository": ("GITHUB_REPOSITORY",),
        "branch": ("GITHUB_HEAD_REF", "GITHUB_REF_NAME"),
        "commit": ("GITHUB_SHA",),
        "pull_request": ("GITHUB_REF",),
        "job": ("GITHUB_JOB",),
        "workflow": ("GITHUB_WORKFLOW",),
        "build": ("GITHUB_RUN_ID",),
    },
)
GITLAB = CiEnvironment(
    "gitlab",
    "GITLAB_CI",
    {
        "repository": ("CI_PROJECT_PATH",),
        "branch": ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH", "CI_COMMIT_REF_NAME"),
        "commit": ("CI_COMMIT_SHA",),
        "pull_request": ("CI_MERGE_REQUEST_IID",),
        "job": ("CI_JOB_NAME",),
        "build": ("CI_PIPELINE_ID",),
    },
)
JENKINS = CiEnvironment(
    "jenkins",
    "JENKINS_URL",
    {
        "repository": ("GIT_URL",),
        "branch": ("CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"),
        "commit": ("GIT_COMMIT",),
        "pull_request": ("CHANGE_ID",),
        "job": ("JOB_NAME",),
        "build": ("BUILD_NUMBER",),
    },
)
BUILDKITE = CiEnvironment(
    "buildkite",
    "BUILDKITE",
    {
        "repository": ("BUILDKITE_REPO",),
        "branch": ("BUILDKITE_BRANCH",),
        "commit": ("BUILDKITE_COMMIT",),
        "pull_request": ("BUILDKITE_PULL_REQUEST",),
        "job": ("BUILDKITE_STEP_KEY", "BUILDKITE_LABEL", "BUILDKITE_PIPELINE_SLUG"),
        "build": ("BUILDKITE_BUILD_NUMBER",),
    },
)
CI_ENVIRONMENTS = (GITHUB, GITLAB, BUILDKITE, JENKINS)
"""Jenkins is last: its variables may also be set by hand."""


def ci_labels(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The labels that the environment's CI states, and `ci` with its name; empty outside a known CI."""
    ci = next((one for one in CI_ENVIRONMENTS if environment.get(one.shown_by) not in (None, "", "false")), None)
    if ci is None:
        return {}
    found = {"ci": ci.name}
    for label, names in ci.labels.items():
        value = next((text for name in names if (text := environment.get(name, "").strip())), None)
        said = value and _READ.get(label, _as_it_is)(value)
        if said:
            found[label] = said
    if ci is GITHUB and "pull_request" in found and (head := _head_commit(environment)):
        found["commit"] = head
    return found


def _as_it_is(value: str) -> str:
    return value


def _branch(value: str) -> str:
    found = _REMOTE_BRANCH.fullmatch(value)
    return found[1] if found else value


def _pull_request(value: str) -> str | None:
    """A number. GitHub names a reference, and Buildkite says `false` where there is none."""
    found = _GITHUB_PULL.match(value)
    return found[1] if found else value if value.isdigit() else None


def _repository(value: str) -> str:
    """`owner/name`, also from an address, whose user and password are left out."""
    found = _REPOSITORY.search(value) if "://" in value or "@" in value else None
    return found[1] if found else value


_READ = {"branch": _branch, "pull_request": _pull_request, "repository": _repository}


def _head_commit(environment: Mapping[str, str]) -> str | None:
    """The commit of the pull request: `GITHUB_SHA` is a merge that nobody can check out later."""
    try:
        event: object = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValueError):
        return None
    for key in ("pull_request", "head", "sha"):
        event = cast(dict[str, object], event).get(key) if isinstance(event, dict) else None
    return event if isinstance(event, str) else None
