// `npm run conformance`: test/conformance against svc-ca, then against a real step-ca, and what that says of every
// statement of docs/protocol.md. `npm run conformance -- enroll` runs the files whose path contains one of the words.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureStepCa } from './install-step-ca.ts'
import {
  findCitations,
  parseStatements,
  type Citation,
  type Statement,
} from './protocol-statements.ts'
import { findFiles, isTestFile, readSources, ROOT } from './source-files.ts'

const AUTHORITIES = ['svc-ca', 'step-ca'] as const
const CONCURRENCY = 2
const FILE_TIMEOUT_MS = 600_000

type Authority = (typeof AUTHORITIES)[number]
type Verdict = 'ok' | 'FAILED' | 'skipped'

export interface Outcome {
  readonly authority: Authority
  readonly path: string
  readonly title: string
  readonly verdict: Verdict
}

export interface Report {
  readonly text: string
  readonly failures: number
}

export function renderReport(
  statements: readonly Statement[],
  citations: readonly Citation[],
  outcomes: readonly Outcome[],
): Report {
  const sections = statements.map((statement) => renderStatement(statement, citations, outcomes))
  const failed = outcomes.filter(({ verdict }) => verdict === 'FAILED')
  const failures = failed.map(
    ({ authority, path, title }) => `FAILED with ${authority}: ${path}: ${title}\n`,
  )
  const counts = AUTHORITIES.map((authority) => {
    const count = (wanted: Verdict): number =>
      outcomes.filter((each) => each.authority === authority && each.verdict === wanted).length
    return `${authority} ${count('ok')} ok, ${count('FAILED')} failed, ${count('skipped')} skipped`
  })
  const shown = statements.filter(({ id }) => outcomes.some(({ title }) => cites(title, id)))
  const summary = `${statements.length} statements, ${shown.length} of them shown here; ${counts.join('; ')}\n`
  return { text: [...sections, ...failures, summary].join(''), failures: failed.length }
}

function renderStatement(
  { id, isNote, isPlanned }: Statement,
  citations: readonly Citation[],
  outcomes: readonly Outcome[],
): string {
  const ofStatement = outcomes.filter(({ title }) => cites(title, id))
  const tests = new Set(ofStatement.map(({ path, title }) => `${path}: ${title}`))
  const lines = [...tests].map((test) => {
    const verdicts = AUTHORITIES.map((authority) => {
      const found = ofStatement.filter(
        (each) => each.authority === authority && `${each.path}: ${each.title}` === test,
      )
      return `${authority} ${worstOf(found)}`.padEnd(16)
    })
    return `  ${verdicts.join(' ')} ${test}\n`
  })
  const paths = citations.filter((each) => each.id === id && isTestFile(each.path))
  const elsewhere = [...new Set(paths.map(({ path }) => path))].filter(
    (path) => !outcomes.some((outcome) => outcome.path === path),
  )
  if (elsewhere.length > 0) lines.push(`  elsewhere: ${elsewhere.join(', ')}\n`)
  const mark = isNote ? ' (note)' : isPlanned ? ' (planned)' : ''
  return `${id}${mark}\n${lines.join('')}`
}

function cites(title: string, id: string): boolean {
  return title.includes(`[${id}]`)
}

/** Two tests of one file may have one title. */
function worstOf(outcomes: readonly Outcome[]): Verdict | 'not run' {
  const verdicts = new Set(outcomes.map(({ verdict }) => verdict))
  const order = ['FAILED', 'skipped', 'ok'] as const
  return order.find((verdict) => verdicts.has(verdict)) ?? 'not run'
}

async function runAgainst(authority: Authority, paths: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  // Read by test/support/hub.ts in the processes of the tests.
  process.env['TEST_CA'] = authority
  const files = paths.map((path) => join(ROOT, path))
  const events = run({ files, cwd: ROOT, concurrency: CONCURRENCY, timeout: FILE_TIMEOUT_MS })
  const add = (
    verdict: Verdict,
    { name, file = name, details }: { name: string; file?: string; details: { type?: string } },
  ): void => {
    if (details.type === 'suite') return
    outcomes.push({ authority, path: relative(ROOT, file), title: name, verdict })
    if (verdict === 'FAILED') process.stderr.write(`FAILED with ${authority}: ${name}\n`)
  }
  events.on('test:pass', (data) => add(data.skip === undefined ? 'ok' : 'skipped', data))
  events.on('test:fail', (data) => add('FAILED', data))
  await finished(events.resume())
  return outcomes
}

async function main(words: readonly string[]): Promise<void> {
  const paths = findFiles(['test/conformance'], ['.test.ts']).filter(
    (path) => words.length === 0 || words.some((word) => path.includes(word)),
  )
  if (paths.length === 0) throw new UserError('no_test', `no test file matches ${words.join(' ')}`)
  if ((await ensureStepCa()) === undefined) {
    throw new UserError('no_step_ca', 'there is no step-ca, and no Go to build it with', {
      hint: 'install Go; npm test runs the suite against svc-ca alone',
    })
  }
  const outcomes: Outcome[] = []
  for (const authority of AUTHORITIES) {
    process.stderr.write(`${paths.length} test files against ${authority}\n`)
    outcomes.push(...(await runAgainst(authority, paths)))
  }
  const statements = parseStatements(readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8'))
  const tests = readSources(findFiles(['src', 'test'], ['.ts', '.txt']))
  const report = renderReport(statements, findCitations(statements, tests), outcomes)
  process.stdout.write(report.text)
  process.exitCode = report.failures === 0 ? 0 : 1
}

if (import.meta.main) await runProgram('conformance', () => main(process.argv.slice(2)))
