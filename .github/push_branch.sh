#!/usr/bin/env bash
# Makes a branch hold what a folder holds, and nothing else:
#     push_branch.sh FOLDER BRANCH REMOTE
# Where nothing has changed nothing is pushed. The branch has one commit: it is made, not written.
set -euo pipefail
folder=$1 branch=$2 remote=$3
cd "$folder"
rm -rf .git
git init --quiet --initial-branch="$branch"
git config user.name "github-actions[bot]"
git config user.email "41898282+github-actions[bot]@users.noreply.github.com"
git add --all --force
# An artifact forgets which files can be run.
for script in binder/postBuild binder/start; do
    if [ -f "$script" ]; then git update-index --chmod=+x "$script"; fi
done
git commit --quiet --message "The notebooks as of ${GITHUB_SHA:-now}"
if git fetch --quiet --depth=1 "$remote" "$branch" 2>/dev/null &&
    [ "$(git rev-parse 'FETCH_HEAD^{tree}')" = "$(git rev-parse 'HEAD^{tree}')" ]; then
    echo "$branch is as it was."
else
    git push --quiet --force "$remote" "HEAD:refs/heads/$branch"
    echo "$branch holds $(git ls-files | wc -l) files."
fi
rm -rf .git
