import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  findBrokenLinks,
  findStale,
  findUndocumented,
  findWrongDefaults,
  findWrongErrors,
} from './docs.ts'
import { expandIds, fillInTests } from './docs-decisions.ts'
import { listSubcommands } from './docs-help.ts'
import { describeFields } from './docs-schema.ts'
import {
  findCitations,
  findDuplicates,
  findHeldBySecondTier,
  findUnknown,
  findUntested,
  parseStatements,
} from './protocol-statements.ts'

const PROTOCOL = `
- **ABC-1** One.
- **ABC-2** (planned) Two.
- **ABC-5** (note) Five.
| ABC-3 | 401 | \`no\` |
| ABC-4 (planned) | x |
Text that mentions ABC-9 is no statement.
`

describe('statements', () => {
  test('are list items and table rows, planned or not', () => {
    assert.deepEqual(
      parseStatements(PROTOCOL).map(({ id, isPlanned }) => [id, isPlanned]),
      [
        ['ABC-1', false],
        ['ABC-2', true],
        ['ABC-5', false],
        ['ABC-3', false],
        ['ABC-4', true],
      ],
    )
  })
  test('may not have the same id', () => {
    assert.deepEqual(findDuplicates(parseStatements(`${PROTOCOL}- **ABC-1** Again.`)), [
      'docs/protocol.md:8 ABC-1 is there twice',
    ])
  })
  test('that are cited must exist, in a known area or not', () => {
    const text = '// ABC-1, WEB-1\n// ABC-7, [XYZ-1] and SHA-256'
    const citations = findCitations(parseStatements(PROTOCOL), [{ path: 'src/x.ts', text }])
    assert.deepEqual(findUnknown(parseStatements(PROTOCOL), citations), [
      'src/x.ts:2 ABC-7 is not in docs/protocol.md',
      'src/x.ts:2 XYZ-1 is not in docs/protocol.md',
    ])
  })
  test('are tested when a test cites them, not when code does', () => {
    const citations = findCitations(parseStatements(PROTOCOL), [
      { path: 'src/x.ts', text: 'ABC-1' },
      { path: 'test/conformance/x.test.ts', text: '[ABC-3]' },
    ])
    const untested = findUntested(parseStatements(PROTOCOL), citations)
    assert.deepEqual(
      untested.map(({ id }) => id),
      ['ABC-1'],
    )
  })
})

test('statements are held by the second tier when no test of the first cites them', () => {
  const citations = findCitations(parseStatements(PROTOCOL), [
    { path: 'src/x.ts', text: 'ABC-1' },
    { path: 'test/versions/x.test.ts', text: '[ABC-1] [ABC-3] [ABC-1]' },
    { path: 'src/x.test.ts', text: '[ABC-3]' },
  ])
  assert.deepEqual(findHeldBySecondTier(parseStatements(PROTOCOL), citations), [
    { id: 'ABC-1', paths: ['test/versions/x.test.ts'] },
  ])
})

describe('documents', () => {
  test('are stale when they are not what the code says', () => {
    const pages = [{ path: 'docs/reference/x.md', text: 'new' }]
    assert.equal(findStale(pages, () => 'old').length, 1)
    assert.equal(findStale(pages, () => 'new').length, 0)
  })
  test('may not link to what is not there', () => {
    const text = '[a](b.md) [c](../d.md#e) [f](https://g) [h](#i)'
    const faults = findBrokenLinks([{ path: 'docs/x.md', text }], (path) => path === 'docs/b.md')
    assert.deepEqual(faults, ['docs/x.md links to ../d.md, which is not there'])
  })
  test('name every word of the code', () => {
    assert.equal(findUndocumented('`one` two', ['one', 'two']).length, 1)
  })
  test('have the default of every variable that has one', () => {
    const protocol = '| ENV-1 | `A` | no | `1` | x |\n| ENV-2 | `B` | no | `2` | x |\n'
    assert.deepEqual(findWrongDefaults(protocol, [{ name: 'A', default: '1' }]), [])
    assert.deepEqual(findWrongDefaults(protocol, [{ name: 'A', default: 'what it says' }]), [])
    assert.equal(findWrongDefaults(protocol, [{ name: 'A', default: '2' }]).length, 1)
  })
  test('have a row for every code, with its status', () => {
    const protocol = '| ERR-1 | 401 | `a` | x |\n| ERR-2 (planned) | 429 | `b` | x |\n'
    assert.deepEqual(findWrongErrors(protocol, { a: { status: 401 }, b: { status: 429 } }), [])
    assert.equal(findWrongErrors(protocol, { a: { status: 403 } }).length, 1)
    assert.equal(findWrongErrors(protocol, { c: { status: 401 } }).length, 1)
  })
})

test('the commands of a help text are found', () => {
  const text =
    'Usage: x\n\nOptions:\n  -h  help\n\nCommands:\n  init  a\n  token|t b\n  help [command]\n\nEnd\n'
  assert.deepEqual(listSubcommands(text), ['init', 'token'])
})

test('a schema is described field by field', () => {
  const schema = {
    properties: {
      a: { type: 'string', minLength: 1, maxLength: 3 },
      b: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['a'],
  }
  assert.deepEqual(describeFields(schema), [
    ['`a`', 'string, at most 3 characters, not empty', 'yes'],
    ['`b`', 'string or null', 'no'],
  ])
})

describe('the decisions', () => {
  test('name the tests that cite their statements, and nothing else', () => {
    const page =
      'Text.\n| open | choice | because | statements |\n|---|---|---|---|\n| a | b | c | ABC-1 |\n'
    const filled = fillInTests(page, [
      { id: 'ABC-1', path: 'test/conformance/x.test.ts', line: 1 },
      { id: 'ABC-1', path: 'src/y.ts', line: 1 },
      { id: 'ABC-2', path: 'src/z.test.ts', line: 1 },
    ])
    assert.match(filled, /^Text\.$/m)
    assert.match(filled, /^\| open \| choice \| because \| statements \| tests \|$/m)
    assert.match(filled, /^\| a \| b \| c \| ABC-1 \| `conformance\/x` \|$/m)
    assert.equal(fillInTests(filled, []), filled.replace('`conformance/x`', ''))
  })
  test('may name a range of statements', () => {
    assert.deepEqual(expandIds('ABC-1 to ABC-3, ENR-9'), ['ABC-1', 'ABC-2', 'ABC-3', 'ENR-9'])
  })
})
