import { describe, expect, it } from 'vitest'
import { descendantsOf, parseStat, readProcess, readProcessTable, type ProcessRow } from './procfs.ts'

describe('one line of /proc', () => {
  const tail = 'S 10 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 4096'

  it.each(['cat', 'a b', 'x) S 1 (y', ')'])('is read whatever %j the program is called', (name) => {
    expect(parseStat(`42 (${name}) ${tail}`)).toEqual({
      pid: 42,
      ppid: 10,
      pgrp: 20,
      session: 30,
      state: 'S',
      startTicks: 98765,
    })
  })

  it.each(['', '42', '42 (cat', '42 (cat) S 1'])('%j is none', (text) => {
    expect(parseStat(text)).toBe(undefined)
  })
})

describe('the table', () => {
  it('holds this process', () => {
    const self = readProcess(process.pid)
    expect(self).toMatchObject({ pid: process.pid, ppid: process.ppid })
    expect(readProcessTable()?.find((row) => row.pid === process.pid)?.startTicks).toBe(self?.startTicks)
  })
})

describe('descendants', () => {
  const row = (pid: number, ppid: number, state = 'S'): ProcessRow => ({
    pid,
    ppid,
    state,
    pgrp: 1,
    session: 1,
    startTicks: pid,
  })

  it('are found through the dead, who are left out', () => {
    const table = [row(1, 0), row(2, 1), row(3, 2, 'Z'), row(4, 3), row(5, 1), row(6, 9)]
    expect(descendantsOf(table, [2]).map((found) => found.pid)).toEqual([4])
    expect(descendantsOf(table, [1]).map((found) => found.pid)).toEqual([2, 5, 4])
    expect(descendantsOf(table, [])).toEqual([])
  })

  it('of a table that was read while it changed end all the same', () => {
    expect(descendantsOf([row(1, 2), row(2, 1)], [1]).map((found) => found.pid)).toEqual([2])
  })
})
