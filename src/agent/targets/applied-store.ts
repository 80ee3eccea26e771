// applied.json: which version of each target stands on the host, what went wrong last, and what is still to be told.
// One document, replaced as a whole: that a change is over and that it is to be reported are one fact.

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, UserError } from '../../platform/errors.ts'
import { replaceStateFile, type TargetFileOperations } from './target-files.ts'
import {
  FailureStep,
  FileTargetReport,
  PairTargetReport,
  type TargetReport,
} from './target-report.ts'

const AppliedFile = Type.Object({
  path: Type.String(),
  sha256: Type.String(),
  uid: Type.Integer(),
  gid: Type.Integer(),
  mode: Type.Integer(),
})
export type AppliedFile = Static<typeof AppliedFile>

const AppliedVersion = Type.Object({
  serial: Type.String(),
  source_sha256: Type.String(),
  /** Of the roots, where a file of the target holds them; absent in what earlier versions wrote. */
  roots_sha256: Type.Optional(Type.String()),
  files: Type.Array(AppliedFile),
})
export type AppliedVersion = Static<typeof AppliedVersion>

const TargetFailure = Type.Object({
  serial: Type.String(),
  source_sha256: Type.String(),
  step: FailureStep,
  reason: Type.String(),
  /** In a row, of this version. */
  attempts: Type.Integer(),
  failed_at_ms: Type.Number(),
  retry_at_ms: Type.Number(),
})
export type TargetFailure = Static<typeof TargetFailure>

const TargetRecord = Type.Object({
  source: Type.String(),
  nome: Type.String(),
  /** Null before the first version that stayed. */
  applied: Type.Union([Type.Null(), AppliedVersion]),
  failure: Type.Union([Type.Null(), TargetFailure]),
  /** The last change that is over: after a crash its journal may still be there. */
  last_change: Type.Object({
    request_id: Type.String(),
    outcome: Type.Union([Type.Literal('applied'), Type.Literal('reverted')]),
  }),
})
export type TargetRecord = Static<typeof TargetRecord>

const Document = Type.Object({
  format: Type.Literal(1),
  targets: Type.Record(Type.String(), TargetRecord),
  reports: Type.Array(PairTargetReport),
  /** Apart: an earlier agent, which applies certificates only, still reads the rest, and leaves these. */
  file_reports: Type.Optional(Type.Array(FileTargetReport)),
})
type Document = Static<typeof Document>

export interface AppliedStore {
  find(target: string): TargetRecord | undefined
  listReports(): readonly TargetReport[]
  /** What the other targets of a delivery could not do with this certificate. */
  listFailures(name: string, serial: string, exceptTarget: string): readonly TargetFailure[]
  /** The record and the reports of its change, durable together when it resolves. */
  put(target: string, record: TargetRecord, reports: readonly TargetReport[]): Promise<void>
  /** Forgets the records of removed targets. */
  keepOnly(targets: ReadonlySet<string>): Promise<void>
  removeReport(requestId: string): Promise<void>
}

const NAME = 'applied.json'
const BYTES_MAX = 64 * 1024 * 1024
/** Reports that no listener has heard for so long are dropped, the oldest first. */
const REPORTS_MAX = 1000

/** Throws a UserError when the file is there but cannot be understood; it is then left alone. */
export async function openAppliedStore(
  directory: string,
  files: TargetFileOperations,
): Promise<AppliedStore> {
  let current = await readDocument(directory, files)

  async function save(changed: Document): Promise<void> {
    try {
      await replaceStateFile(files, directory, NAME, `${JSON.stringify(changed, undefined, 2)}\n`)
    } catch (error) {
      // It may have come as far as the new name; memory follows the disk, never the other way round.
      current = await readDocument(directory, files)
      throw error
    }
    current = changed
  }

  return {
    find: (target) =>
      Object.hasOwn(current.targets, target) ? current.targets[target] : undefined,
    listReports: () => reportsIn(current),
    listFailures: (name, serial, exceptTarget) =>
      Object.entries(current.targets)
        .filter(([target, { nome }]) => target !== exceptTarget && nome === name)
        .flatMap(([, { failure }]) => failure ?? [])
        .filter((failure) => failure.serial === serial),
    put: (target, record, reports) =>
      save({
        ...current,
        targets: { ...current.targets, [target]: record },
        ...withReports([...reportsIn(current), ...reports].slice(-REPORTS_MAX)),
      }),
    keepOnly: async (targets) => {
      const kept = Object.entries(current.targets).filter(([target]) => targets.has(target))
      if (kept.length === Object.keys(current.targets).length) return
      await save({ ...current, targets: Object.fromEntries(kept) })
    },
    removeReport: async (requestId) => {
      const all = reportsIn(current)
      const rest = all.filter(({ request_id: id }) => id !== requestId)
      if (rest.length < all.length) await save({ ...current, ...withReports(rest) })
    },
  }
}

function reportsIn({ reports, file_reports: fileReports = [] }: Document): TargetReport[] {
  return [...reports, ...fileReports]
}

function withReports(all: readonly TargetReport[]): Pick<Document, 'reports' | 'file_reports'> {
  return {
    reports: all.filter((report): report is PairTargetReport => !isOfFile(report)),
    file_reports: all.filter(isOfFile),
  }
}

function isOfFile(report: TargetReport): report is FileTargetReport {
  return 'versao' in report.payload
}

async function readDocument(directory: string, files: TargetFileOperations): Promise<Document> {
  const path = join(directory, NAME)
  const image = await files.read(path, BYTES_MAX)
  if (image === undefined) return { format: 1, targets: {}, reports: [] }
  const document = parseJson(path, Buffer.from(image.content).toString())
  if (Check(Document, document)) return document
  throw damaged(path, 'it does not have the form of this version')
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw damaged(path, describeError(error))
  }
}

function damaged(path: string, why: string): UserError {
  return new UserError('applied_damaged', `${path} is damaged: ${why}`, {
    hint: `move ${path} away: the agent then applies every target again`,
  })
}
