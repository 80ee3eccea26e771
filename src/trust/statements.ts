// The two texts that a trust key signs: a set of roots, and the key that comes after it. A person can read them, and write
// them without us. Each has one spelling only. docs/protocol.md TRK-2, TRK-3.

import { LIMITS } from '../protocol/limits.ts'
import { isFleetName, makeTrustKey, type TrustKey } from './trust-key.ts'

export interface SetStatement {
  readonly fleet: string
  readonly epoch: number
  readonly number: number
  /** SHA-256 of each root's DER, lower-case hex. */
  readonly fingerprints: readonly string[]
}

export interface KeyStatement {
  /** The key that signs this. */
  readonly from: TrustKey
  /** The key that signs from then on. */
  readonly to: TrustKey
}

const SET_TITLE = 'cartorio trust set v1'
const KEY_TITLE = 'cartorio trust key v1'
const FINGERPRINT = /^[0-9a-f]{64}$/
const NUMBER = /^[1-9]\d{0,9}$/

export function formatSetStatement({ fleet, epoch, number, fingerprints }: SetStatement): string {
  const roots = fingerprints.map((fingerprint) => `root ${fingerprint}`)
  return lines([SET_TITLE, `fleet ${fleet}`, `epoca ${epoch}`, `numero ${number}`, ...roots])
}

export function formatKeyStatement({ from, to }: KeyStatement): string {
  return lines([KEY_TITLE, `fleet ${from.fleet}`, `from ${from.line}`, `to ${to.line}`])
}

/** Undefined for a text that is not exactly such a statement. */
export function parseSetStatement(text: string): SetStatement | undefined {
  const [, fleet = '', epoch = '', number = '', ...roots] = valuesOf(text)
  const fingerprints = roots.filter((root) => FINGERPRINT.test(root))
  if (!NUMBER.test(epoch) || !NUMBER.test(number)) return undefined
  const statement = { fleet, epoch: Number(epoch), number: Number(number), fingerprints }
  const isBounded =
    isFleetName(fleet) &&
    Math.max(statement.epoch, statement.number) <= LIMITS.rootSetNumberMax &&
    fingerprints.length > 0 &&
    fingerprints.length <= LIMITS.rootsMax &&
    new Set(fingerprints).size === fingerprints.length
  return isBounded && formatSetStatement(statement) === text ? statement : undefined
}

/** Undefined for a text that is not exactly such a statement. */
export function parseKeyStatement(text: string): KeyStatement | undefined {
  const [, fleet = '', fromLine = '', toLine = ''] = valuesOf(text)
  const from = makeTrustKey(fleet, fromLine)
  const to = makeTrustKey(fleet, toLine)
  if (from === undefined || to === undefined || fromLine === toLine) return undefined
  return formatKeyStatement({ from, to }) === text ? { from, to } : undefined
}

/** What follows the first word of each line; whether the words are right is for the caller, who writes the text again. */
function valuesOf(text: string): string[] {
  if (text.length > LIMITS.trustStatementCharactersMax) return []
  return text.split('\n').map((line) => line.slice(line.indexOf(' ') + 1))
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
