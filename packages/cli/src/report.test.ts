import { describe, expect, it } from 'vitest'
import { message, paletteFor, table } from './report.ts'

describe('a message', () => {
  it('is one line that starts with our name', () => {
    expect(message('a\n  b\n')).toBe('dsh-sandbox: a; b\n')
  })

  it('carries nothing that a terminal would obey', () => {
    expect(message('\u001b[2Jgone\u009b0m\r\u2028')).toBe('dsh-sandbox: ?[2Jgone?0m\n')
  })
})

describe('colour', () => {
  it.each([
    ['on a terminal', { isTTY: true }, {}, '\u001b[32myes\u001b[39m'],
    ['not in a pipe', {}, {}, 'yes'],
    ['not when refused', { isTTY: true }, { NO_COLOR: '1' }, 'yes'],
    ['when the refusal is empty', { isTTY: true }, { NO_COLOR: '' }, '\u001b[32myes\u001b[39m'],
    ['not on a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, 'yes'],
  ])('%s', (_, stream, environment, expected) => {
    expect(paletteFor(stream, environment).green('yes')).toBe(expected)
  })
})

it('a table has a head and a row for each row', () => {
  expect(table(['a', 'b'], [['1', '22']])).toBe('┌───┬────┐\n│ a │ b  │\n│ 1 │ 22 │\n└───┴────┘\n')
})
