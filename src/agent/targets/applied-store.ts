// applied.json: which version of each target stands on the host, what went wrong last, and what is still to be told.
// One document, replaced as a whole: that a change is over and that it is to be reported are one fact.

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, UserError } from '../../platform/errors.ts'
import { EventType } from '../../protocol/words.ts'
import { replaceStateFile, type TargetFileOperations } from './target-files.ts'
import {
  FailureStep,
  FileTargetReport,
  PairTargetReport,
  reportRemoved,
  TargetRemovedReport,
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
  /** What was told of it beside; absent in what versions up to 0.4.0 wrote. */
  output: Type.Optional(Type.String()),
  delivery_id: Type.Optional(Type.String()),
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
  /** Apart for the same reason: versions up to 0.4.0 know no removal. */
  removal_reports: Type.Optional(Type.Array(TargetRemovedReport)),
})
type Document = Static<typeof Document>

export interface FailedTarget {
  readonly source: string
  readonly failure: TargetFailure
}

export interface AppliedStore {
  find(target: string): TargetRecord | undefined
  listReports(): readonly TargetReport[]
  /** What the other targets of a delivery could not do with this certificate. */
  listFailures(name: string, serial: string, exceptTarget: string): readonly FailedTarget[]
  /** The record and the reports of its change, durable together when it resolves. */
  put(target: string, record: TargetRecord, reports: readonly TargetReport[]): Promise<void>
  /** Forgets the records of removed targets, and of targets that are now for another delivery; reports which had failed. */
  keepOnly(nameOf: ReadonlyMap<string, string>, newRequestId: () => string): Promise<void>
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
        .flatMap(([, { source, failure }]) => (failure === null ? [] : { source, failure }))
        .filter(({ failure }) => failure.serial === serial),
    put: (target, record, reports) =>
      save({
        ...current,
        targets: { ...current.targets, [target]: record },
        ...withReports([...reportsIn(current), ...reports].slice(-REPORTS_MAX)),
      }),
    keepOnly: async (nameOf, newRequestId) => {
      const isKept = ([target, { nome }]: [string, TargetRecord]): boolean =>
        nameOf.get(target) === nome
      const all = Object.entries(current.targets)
      const kept = all.filter(isKept)
      if (kept.length === all.length) return
      const removals = all
        .filter((one) => !isKept(one))
        .flatMap(([, record]) => reportOfRemoval(record, newRequestId))
      await save({
        ...current,
        targets: Object.fromEntries(kept),
        ...withReports([...reportsIn(current), ...removals].slice(-REPORTS_MAX)),
      })
    },
    removeReport: async (requestId) => {
      const all = reportsIn(current)
      const rest = all.filter(({ request_id: id }) => id !== requestId)
      if (rest.length < all.length) await save({ ...current, ...withReports(rest) })
    },
  }
}

function reportOfRemoval(
  { source, nome: name, failure }: TargetRecord,
  newRequestId: () => string,
): TargetReport[] {
  const deliveryId = failure?.delivery_id
  if (deliveryId === undefined) return []
  return [reportRemoved({ requestId: newRequestId(), deliveryId, name, source })]
}

function reportsIn(document: Document): TargetReport[] {
  const { reports, file_reports: ofFiles = [], removal_reports: removals = [] } = document
  return [...reports, ...ofFiles, ...removals]
}

function withReports(
  all: readonly TargetReport[],
): Pick<Document, 'reports' | 'file_reports' | 'removal_reports'> {
  const [reports, ofFiles, removals]: [
    PairTargetReport[],
    FileTargetReport[],
    TargetRemovedReport[],
  ] = [[], [], []]
  for (const report of all) {
    if (isRemoval(report)) removals.push(report)
    else if (isOfFile(report)) ofFiles.push(report)
    else reports.push(report)
  }
  return { reports, file_reports: ofFiles, removal_reports: removals }
}

function isRemoval(report: TargetReport): report is TargetRemovedReport {
  return report.tipo_evento === EventType.targetRemoved
}

function isOfFile(report: PairTargetReport | FileTargetReport): report is FileTargetReport {
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
