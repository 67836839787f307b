#!/bin/bash
# What the GitHub Action (action.yml) does once planc is there: check the plans,
# compare them with the base branch, write one comment and keep it current. Exits
# with the worse of the two exit codes; a comment that cannot be written (a pull
# request from a fork has no token for it) is a notice.
#
#   PLANC               the tool; the one built beside this script if empty
#   PLANC_FILES         pathspecs, one a line
#   PLANC_BASE          a branch or commit to compare with; empty: only check
#   PLANC_FAIL_ON       thresholds, one a line
#   PLANC_COMMENT       true: write a comment
#   PLANC_PULL_REQUEST  its number; empty: there is none
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
planc=${PLANC:-$here/build/release/bin/planc}
marker='<!-- planc: one comment a pull request -->'
output=${GITHUB_OUTPUT:-/dev/null}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}

lines() { # TEXT — its lines that are not empty, as an array `found`
  local line
  found=()
  while IFS= read -r line; do
    [[ $line =~ [^[:space:]] ]] && found+=("$line")
  done <<<"$1" || true
}

worse() { # CODE — keeps the higher of it and what was kept
  [[ $1 -le $status ]] || status=$1
}

# Where this branch left the base; the base itself, fetched if need be, where the
# checkout is too shallow to say.
base_commit() {
  local base=$1 tip
  if ! tip=$(git rev-parse --quiet --verify "origin/$base^{commit}" 2>/dev/null ||
    git rev-parse --quiet --verify "$base^{commit}" 2>/dev/null); then
    git fetch --quiet --depth=1 origin "$base" >&2
    tip=$(git rev-parse FETCH_HEAD)
  fi
  git merge-base "$tip" HEAD 2>/dev/null || echo "$tip"
}

# The comment that this script wrote before, empty if there is none.
earlier_comment() {
  gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$PLANC_PULL_REQUEST/comments" \
    --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1
}

write_comment() { # FILE
  local id
  id=$(earlier_comment) || return
  if [[ $id ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" \
      --field "body=@$1"
  else
    gh api --method POST \
      "repos/$GITHUB_REPOSITORY/issues/$PLANC_PULL_REQUEST/comments" \
      --field "body=@$1"
  fi >/dev/null
}

status=0
lines "${PLANC_FILES:-*.plan}"
mapfile -d '' -t files < <(git ls-files -z -- "${found[@]}")
if [[ ${#files[@]} == 0 ]]; then
  echo "::notice title=planc::no file matches ${found[*]}"
  exit 0
fi

"$planc" check --format github "${files[@]}" || worse $?
[[ ${PLANC_BASE:-} ]] || exit "$status"

base=$(base_commit "$PLANC_BASE")
lines "${PLANC_FAIL_ON:-}"
limits=()
for threshold in "${found[@]}"; do
  limits+=(--fail-on "$threshold")
done
report=$(mktemp)
echo "$marker" >"$report"
"$planc" diff --against "$base" --format markdown "${limits[@]}" \
  "${files[@]}" >>"$report" || worse $?
cat "$report" >>"$summary"
echo "report=$report" >>"$output"

if [[ ${PLANC_COMMENT:-} == true && ${PLANC_PULL_REQUEST:-} ]]; then
  write_comment "$report" ||
    echo "::notice title=planc::the comment could not be written; the" \
      "comparison is in the job's summary"
fi
exit "$status"
