// What `svc doctor` prints: one line for what is good, and for the rest what is wrong, why it matters and what to do.
// docs/protocol.md DOC-5.

import { type Language, stateIn } from '../protocol/spoken-words.ts'
import { type Finding, FINDING_STATUSES } from './finding.ts'
import { type CheckResult, exitStatusOf } from './run-checks.ts'

const STATUS_WIDTH = 13
const ID_WIDTH = 13

export function renderResults(language: Language, results: readonly CheckResult[]): string {
  return results
    .flatMap(({ id, findings }) => findings.map((finding) => renderFinding(language, id, finding)))
    .join('')
}

function renderFinding(language: Language, id: string, finding: Finding): string {
  const { status, message, why, remedy, commands = [] } = finding
  const indent = ' '.repeat(STATUS_WIDTH + ID_WIDTH)
  const rest = [
    ...(why === undefined ? [] : [`why: ${why}`]),
    ...(remedy === undefined ? [] : [`do:  ${remedy}`]),
    ...commands.map((command) => `  $ ${command}`),
  ]
  const first = `${stateIn(language, status).padEnd(STATUS_WIDTH)}${id.padEnd(ID_WIDTH)}${message}\n`
  return `${first}${rest.map((line) => `${indent}${line}\n`).join('')}`
}

/** `found 1 error, 2 warnings`; undefined when nothing is wrong. */
export function summarise(results: readonly CheckResult[]): string | undefined {
  const findings = results.flatMap((result) => result.findings)
  const counts = FINDING_STATUSES.map(
    (status) => [status, findings.filter((each) => each.status === status).length] as const,
  )
  const words = { error: 'error', warning: 'warning', unknown: 'check that could not look' }
  const parts = counts
    .toReversed()
    .filter(([status, count]) => count > 0 && status in words)
    .map(([status, count]) => {
      const word = words[status as keyof typeof words]
      const many = status === 'unknown' ? 'checks that could not look' : `${word}s`
      return `${count} ${count === 1 ? word : many}`
    })
  return parts.length === 0 ? undefined : `found ${parts.join(', ')}`
}

export function jsonOf(results: readonly CheckResult[], at: Date): object {
  return {
    checked_at: at.toISOString(),
    ok: exitStatusOf(results) === 0,
    exit_status: exitStatusOf(results),
    checks: results.map(({ id, title, status, findings }) => ({
      id,
      title,
      status,
      findings: findings.map(({ commands = [], why = null, remedy = null, ...rest }) => ({
        ...rest,
        why,
        remedy,
        commands,
      })),
    })),
  }
}
