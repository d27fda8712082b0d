"""The labels of each CI, from the variables that it sets."""

import json
from pathlib import Path

import pytest

from turntape.inspector.fleet.rows.ci_labels import ci_labels

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "acme/agents",
    "GITHUB_SHA": "merge",
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_REF_NAME": "main",
    "GITHUB_JOB": "evals",
    "GITHUB_WORKFLOW": "CI",
    "GITHUB_RUN_ID": "77",
}


def test_a_push_on_github() -> None:
    assert ci_labels(GITHUB) == {
        "ci": "github",
        "repository": "acme/agents",
        "branch": "main",
        "commit": "merge",
        "job": "evals",
        "workflow": "CI",
        "build": "77",
    }


def test_a_pull_request_on_github_names_its_own_commit(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"sha": "head"}}}))
    pull = {"GITHUB_REF": "refs/pull/12/merge", "GITHUB_HEAD_REF": "fix", "GITHUB_EVENT_PATH": str(event)}

    found = ci_labels({**GITHUB, **pull})

    assert (found["pull_request"], found["branch"], found["commit"]) == ("12", "fix", "head")
    assert ci_labels({**GITHUB, **pull, "GITHUB_EVENT_PATH": str(tmp_path)})["commit"] == "merge"


@pytest.mark.parametrize(
    ("environment", "labels"),
    [
        (
            {
                "GITLAB_CI": "true",
                "CI_PROJECT_PATH": "acme/agents",
                "CI_COMMIT_SHA": "c",
                "CI_COMMIT_REF_NAME": "refs",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
                "CI_MERGE_REQUEST_IID": "5",
                "CI_JOB_NAME": "evals",
            },
            {"ci": "gitlab", "branch": "fix", "commit": "c", "pull_request": "5", "job": "evals"},
        ),
        (
            {
                "JENKINS_URL": "https://ci",
                "GIT_URL": "https://me:secret@git.example/acme/agents.git",
                "GIT_BRANCH": "origin/main",
                "GIT_COMMIT": "c",
                "JOB_NAME": "evals",
            },
            {"ci": "jenkins", "branch": "main", "commit": "c", "job": "evals"},
        ),
        (
            {
                "BUILDKITE": "true",
                "BUILDKITE_REPO": "git@git.example:acme/agents.git",
                "BUILDKITE_BRANCH": "main",
                "BUILDKITE_COMMIT": "c",
                "BUILDKITE_PULL_REQUEST": "false",
                "BUILDKITE_LABEL": "evals",
            },
            {"ci": "buildkite", "branch": "main", "commit": "c", "job": "evals"},
        ),
        ({}, {}),
        ({"GITHUB_ACTIONS": "false", "GITHUB_SHA": "c"}, {}),
    ],
    ids=["gitlab", "jenkins", "buildkite", "none", "switched off"],
)
def test_other_environments(environment: dict[str, str], labels: dict[str, str]) -> None:
    expected = {**labels, "repository": "acme/agents"} if labels else {}

    assert ci_labels(environment) == expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_job_of_buildkite_has_the_most_exact_name_that_there_is(count: int) -> None:
    names = {"BUILDKITE_PIPELINE_SLUG": "agents", "BUILDKITE_LABEL": "Evals", "BUILDKITE_STEP_KEY": "evals"}
    given = dict(list(names.items())[:count])

    assert ci_labels({"BUILDKITE": "true", **given})["job"] == list(given.values())[-1]
