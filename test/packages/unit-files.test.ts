// What the tests of the packages rest on: units and filters are read as systemd reads them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allowedCalls, parseGroups } from './support/system-call-filter.ts'
import { parseUnitFile } from './support/unit-file.ts'

const UNIT = `# a comment
[Unit]
Description=not of the service

[Service]
User=svc
Environment=A=1
; another
Environment=B=2 \\
 C=3
ExecStart=/bin/true --flag
`

const GROUPS = `@default
    # System calls that are always permitted
    exit
    read

@files
    # Files
    @more-files
    openat

@more-files
    chown
    rename

@owner
    chown

# Ungrouped System Calls (known but not included in any of the groups except @known):
#   reboot
`

describe('a unit', () => {
  test('has the settings of its service, several values each, in order', () => {
    const unit = parseUnitFile(UNIT)
    assert.equal(unit.last('User'), 'svc')
    assert.deepEqual(unit.all('Environment'), ['A=1', 'B=2   C=3'])
    assert.equal(unit.last('ExecStart'), '/bin/true --flag')
    assert.equal(unit.last('Description'), undefined)
  })
})

describe('a filter of system calls', () => {
  const filters: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['allows what it names, groups in groups too', ['@files'], ['chown', 'openat', 'rename']],
    ['denies what a later line takes away', ['@files', '~@owner'], ['openat', 'rename']],
    [
      'allows what comes back after that',
      ['@files', '~@owner', 'chown'],
      ['chown', 'openat', 'rename'],
    ],
    ['takes several names on a line', ['openat rename'], ['openat', 'rename']],
  ]
  for (const [title, lines, calls] of filters) {
    test(title, () => {
      const allowed = allowedCalls(lines, parseGroups(GROUPS))
      assert.deepEqual([...allowed].sort(), ['exit', 'read', ...calls].sort())
    })
  }
})
