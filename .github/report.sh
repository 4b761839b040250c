#!/usr/bin/env bash
# Opens an issue about what the weekly run found, or adds to the one that is open. Closes nothing.
# RESULTS: the jobs' results as JSON; RUN: the address of the run; gh takes GH_TOKEN and GH_REPO.
set -euo pipefail
title="The weekly run found something"
broken=$(jq -r 'to_entries[] | select(.value.result == "failure") | "* " + .key' <<<"$RESULTS")
page=$(mktemp)
{
    echo "These jobs failed in [this run]($RUN); their summaries say what broke:"
    echo
    echo "$broken"
} >"$page"
number=$(gh issue list --state open --search "in:title \"$title\"" --json number,title \
    --jq "map(select(.title == \"$title\")) | .[0].number // empty")
if [ -n "$number" ]; then
    gh issue comment "$number" --body-file "$page"
else
    gh issue create --title "$title" --body-file "$page"
fi
