// The agent's own part in targets: it applies its own targets, tells root's applier of each change in `out/`, and
// sends the hub what both report. A fault in targets delays nothing else. docs/protocol.md TGT.

import { basename, join } from 'node:path'
import { describeError, SvcError } from '../../platform/errors.ts'
import { replaceFile } from '../../platform/files.ts'
import { EventType } from '../../protocol/words.ts'
import type { InstalledTargets } from '../delivery/follow-up.ts'
import type { DeliveryId } from '../../protocol/identifiers.ts'
import type { Outbox } from '../hub/outbox.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import type { PassOptions, TargetResult } from './apply-targets.ts'
import { loadTargets } from './load-targets.ts'
import { runPass, type TargetsHost, tellWaitingReports } from './run-pass.ts'
import type { TargetReport } from './target-report.ts'

export interface AgentTargets extends InstalledTargets {
  /** Of the last pass over all of them. */
  lastResults(): readonly TargetResult[]
  /** All targets, whose roots were just switched. */
  applyRoots(): Promise<void>
}

export interface ReportSink {
  readonly processed: {
    list(): readonly { readonly deliveryId: DeliveryId; readonly name: string }[]
  }
  readonly outbox: Pick<Outbox, 'enqueue' | 'listWaiting'>
}

/** The file in `out/` that root's applier watches. */
const CHANGED_FILE = '.changed'
const REPORTS_WAITING_MAX = 200
/** As many as the hub takes down; with more than these in an event it would be too large. */
const REPORTERS_MAX = 32

export function createAgentTargets(host: TargetsHost, sink: ReportSink): AgentTargets {
  const { log } = host
  const turns = createSerialQueue()
  let lastResults: readonly TargetResult[] = []

  async function pass(options: PassOptions): Promise<readonly string[]> {
    try {
      const outcome = await runPass(host, options, undefined)
      if (options.only === undefined && outcome !== undefined) lastResults = outcome.results
      return outcome === undefined ? [] : [...outcome.problems, ...unsettled(outcome.results)]
    } catch (error) {
      log.error({ error: describeError(error) }, 'Pass over the targets failed')
      return [describeError(error)]
    }
  }

  async function showChange(what: string): Promise<void> {
    const path = join(host.paths.outDir, CHANGED_FILE)
    await replaceFile(path, `${what}\n`, 0o644).catch((error: unknown) => {
      log.warn({ path, error: describeError(error) }, 'Change not shown to other appliers')
    })
  }

  return {
    lastResults: () => lastResults,
    lookAfter: () => turns.run(() => pass({})),
    applyNew: (name, serial) =>
      turns.run(async () => {
        await pass({ only: name })
        await showChange(`${name} ${serial}`)
      }),
    reportersOf: async (artefact, name) => {
      try {
        const { targets } = await loadTargets(host.config.targetsDir, host.applier)
        return targets
          .filter((target) => target.artefact === artefact && target.name === name)
          .map(({ source }) => basename(source))
          .slice(0, REPORTERS_MAX)
      } catch (error) {
        log.warn({ error: describeError(error) }, 'Targets of a delivery not read')
        return []
      }
    },
    applyRoots: () =>
      turns.run(async () => {
        await pass({})
        await showChange('ca.pem')
      }),
    tell: () =>
      turns.run(async () => {
        try {
          await tellWaitingReports(host, async (report) => {
            await enqueueReport(sink, report)
            return 'taken'
          })
        } catch (error) {
          log.warn({ error: describeError(error) }, 'Reports of targets wait')
        }
      }),
  }
}

/** What `targets apply` brings through `agent.sock`; it may only speak of what the agent was sent. */
export async function takeTargetReport(sink: ReportSink, report: TargetReport): Promise<void> {
  const isOwn = sink.processed.list().some(({ name }) => name === report.payload.nome)
  if (!isOwn) throw new SvcError('report_refused', 'it is not about a delivery of this agent')
  const waiting = sink.outbox.listWaiting().filter(({ type }) => isAboutTargets(type))
  if (waiting.length >= REPORTS_WAITING_MAX) {
    throw new SvcError('reports_waiting', 'too many reports of targets wait for the hub')
  }
  await enqueueReport(sink, report)
}

/** A report that waited until its delivery was replaced still belongs to that name; the hub no longer knows the old id. */
async function enqueueReport({ processed, outbox }: ReportSink, report: TargetReport) {
  const record = processed
    .list()
    .find(
      ({ deliveryId, name }) => deliveryId === report.entrega_id && name === report.payload.nome,
    )
  await outbox.enqueue(
    {
      type: report.tipo_evento,
      payload: report.payload,
      ...(record === undefined ? {} : { deliveryId: record.deliveryId }),
    },
    report.request_id,
  )
}

function isAboutTargets(type: string | undefined): boolean {
  return (
    type === EventType.targetApplied ||
    type === EventType.targetReverted ||
    type === EventType.targetRemoved
  )
}

function unsettled(
  results: readonly {
    readonly source: string
    readonly result: string
    readonly detail: string | null
  }[],
): string[] {
  return results
    .filter(({ result }) => ['reverted', 'held_back', 'stuck'].includes(result))
    .map(({ source, result, detail }) => `${source}: ${result}: ${detail ?? ''}`)
}
