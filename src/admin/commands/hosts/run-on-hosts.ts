// Many hosts as a person and a script see them: a line for each, progress, one summary, or one JSON document.

import type { SvcError } from '../../../platform/errors.ts'
import type { AdminRehearsal } from '../../../protocol/admin/operation.ts'
import { actOnHosts, type HostFailure, summarize } from './act-on-hosts.ts'
import type { CommandContext } from '../command-context.ts'
import { Rehearsed } from '../dry-run.ts'

export interface HostsRun<Host, Result> {
  readonly hosts: readonly Host[]
  readonly act: (host: Host) => Promise<Result>
  /** What standard output says of it, after the name; undefined says nothing there. */
  readonly describe: (result: Result) => string | undefined
  /** What to do when some are left. */
  readonly again: string
  readonly isJson: boolean
  readonly isRehearsal: boolean
  readonly perSecond?: number
}

/** Throws when a host is left, also of a rehearsal, which else ends with the rehearsals of all hosts as one. */
export async function runOnHosts<Host extends { readonly name: string }, Result extends object>(
  { output, progress, clock, note, ending }: CommandContext,
  run: HostsRun<Host, Result>,
): Promise<void> {
  const total = run.hosts.length
  const rehearsals: AdminRehearsal[] = []
  const documents: object[] = []
  const act = async (host: Host): Promise<Result | undefined> => {
    try {
      return await run.act(host)
    } catch (error) {
      if (!(error instanceof Rehearsed)) throw error
      rehearsals.push(error.answer)
      return undefined
    }
  }
  const done = async (agente: string, result: Result | undefined): Promise<void> => {
    if (result === undefined) return
    if (run.isJson) documents.push({ agente, ok: true, ...result })
    const text = run.isJson ? undefined : run.describe(result)
    if (text === undefined) return
    progress.clear()
    await output.write(`${agente} ${text}\n`)
  }
  const failed = async ({ host, error }: HostFailure): Promise<void> => {
    if (run.isJson) documents.push({ agente: host, ok: false, ...toDocument(error) })
    progress.clear()
    note(`${host}: ${error.message}`)
  }
  const counts = await actOnHosts(
    run.hosts,
    act,
    {
      done,
      failed,
      progress: (count) => progress.show(`${count} of ${total} hosts`),
      isClosed: () => output.isClosed,
    },
    { clock, perSecond: run.isRehearsal ? undefined : run.perSecond, ending: ending?.() },
  )
  progress.clear()
  const isWhole = counts.failed === 0 && counts.stoppedBy === undefined
  if (rehearsals.length > 0 && isWhole) throw new Rehearsed(join(rehearsals))
  if (run.isJson) {
    const untried = total - counts.done - counts.failed
    const { done: doneCount, failed: failedCount } = counts
    await output.writeJson({ hosts: documents, done: doneCount, failed: failedCount, untried })
  }
  const summary = summarize(total, counts, run.again)
  if (!run.isJson) note(summary)
}

function toDocument({ code, message }: SvcError): { error: string; message: string } {
  return { error: code, message }
}

function join(rehearsals: readonly AdminRehearsal[]): AdminRehearsal {
  return {
    dry_run: true,
    acts: rehearsals.flatMap(({ acts }) => acts),
    agentes: rehearsals.reduce((sum, { agentes }) => sum + agentes, 0),
  }
}
