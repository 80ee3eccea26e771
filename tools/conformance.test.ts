import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderReport, type Outcome } from './conformance.ts'
import { findCitations, parseStatements } from './protocol-statements.ts'

const statements = parseStatements(
  '- **ABC-1** One.\n- **ABC-2** Two.\n- **ABC-3** (note) Three.\n- **ABC-4** (planned) Four.\n',
)
const PATH = 'test/conformance/a.test.ts'
const citations = findCitations(statements, [
  { path: PATH, text: "test('[ABC-1] holds')" },
  { path: 'src/a.test.ts', text: "test('[ABC-2] holds')" },
  { path: 'src/a.ts', text: '// ABC-2' },
])
const title = '[ABC-1] holds'
const good: Outcome[] = [
  { authority: 'svc-ca', path: PATH, title, verdict: 'ok' },
  { authority: 'step-ca', path: PATH, title, verdict: 'skipped' },
]

test('the report has every statement, its tests, and how they went with each CA', () => {
  assert.deepEqual(renderReport(statements, citations, good), {
    failures: 0,
    text: `ABC-1
  svc-ca ok        step-ca skipped  test/conformance/a.test.ts: [ABC-1] holds
ABC-2
  elsewhere: src/a.test.ts
ABC-3 (note)
ABC-4 (planned)
4 statements, 1 of them shown here; svc-ca 1 ok, 0 failed, 0 skipped; step-ca 0 ok, 0 failed, 1 skipped
`,
  })
})

test('a test that failed is a failure, whether or not it cites a statement', () => {
  const failed: Outcome[] = [
    { authority: 'svc-ca', path: PATH, title, verdict: 'FAILED' },
    { authority: 'step-ca', path: PATH, title: PATH, verdict: 'FAILED' },
  ]
  const { failures, text } = renderReport(statements, citations, [...good, ...failed])
  assert.equal(failures, 2)
  assert.match(text, /^ {2}svc-ca FAILED {4}step-ca skipped {2}test\/conformance\/a\.test\.ts: /m)
  assert.match(text, /^FAILED with step-ca: test\/conformance\/a\.test\.ts: test/m)
})
