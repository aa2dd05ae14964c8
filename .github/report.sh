#!/usr/bin/env bash
# report.sh TITLE FILE: opens an issue with the file's text, unless one with this
# title is open. Wants gh, and GH_TOKEN with the right to write issues.
set -euo pipefail
title=$1 file=$2

open=$(gh issue list --state open --limit 1000 --json title --jq '.[].title')
if grep -qxF -- "$title" <<<"$open"; then
  echo "already open: $title"
  exit
fi
# An issue holds 65,536 characters; the beginning says the most.
head -c 60000 "$file" | gh issue create --title "$title" --body-file -
