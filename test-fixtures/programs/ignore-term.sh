#!/bin/sh
# Waits on the gate in its first argument, then for ever. Takes no hint; only KILL ends it.
trap '' TERM INT HUP
read -r _ <"$1"
while :; do sleep 60; done
