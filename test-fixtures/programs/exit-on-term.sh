#!/bin/sh
# Waits on the gate in its first argument, then for ever. Ends by itself with 0 when it is asked to.
trap 'exit 0' TERM
read -r _ <"$1"
while :; do sleep 60 & wait $!; done
