// One scene of what the hub says and what this machine shows: where both see the same, the hub's own view counts, since it is the hub
// that works with it. docs/protocol.md DOC-3, DOC-20.

import type { AdminExamination } from '../protocol/admin/examination.ts'
import { Unchecked } from './finding.ts'
import type { HubFacts, Scene } from './scene.ts'

/** What svc sees on the hub's machine. Each may throw. */
export type LocalLooks = Pick<
  Scene,
  | 'settings'
  | 'secrets'
  | 'vault'
  | 'unit'
  | 'machine'
  | 'listeners'
  | 'names'
  | 'publicUrl'
  | 'checkpointDirectory'
  | 'backups'
  | 'database'
  | 'standby'
  | 'disk'
  | 'authority'
  | 'certificates'
>

type Part = 'disk' | 'ca' | 'certificates' | 'process'

export function composeScene(
  options: Pick<Scene, 'now' | 'version'> & {
    readonly hub: () => Promise<HubFacts>
    /** Undefined for a hub on another machine. */
    readonly local: LocalLooks | undefined
  },
): Scene {
  const { now, version, local } = options
  const hub = once(options.hub)
  const look = <T>(choose: (from: LocalLooks) => () => Promise<T>): (() => Promise<T>) =>
    once(() => (local === undefined ? elsewhere() : choose(local)()))
  /** The hub's own view, or what this machine shows where it has none. */
  const seen = <Name extends Part, T extends NonNullable<AdminExamination[Name]>>(
    part: Name,
    here: () => Promise<T>,
  ): (() => Promise<T>) =>
    once(async () => {
      const { examination } = await hub().catch(() => ({ examination: undefined }))
      const said = examination?.[part] ?? undefined
      // A union of literals: the part has the type of its name.
      if (said !== undefined) return said as T
      const why = examination?.unknown.find((each) => each.part === part)?.reason
      if (why !== undefined) throw new Unchecked(`the hub says: ${why}`)
      return here()
    })
  const unit = look((from) => from.unit)
  return {
    now,
    version,
    hub,
    unit,
    settings: look((from) => from.settings),
    secrets: look((from) => from.secrets),
    vault: look((from) => from.vault),
    machine: look((from) => from.machine),
    listeners: look((from) => from.listeners),
    names: look((from) => from.names),
    publicUrl: look((from) => from.publicUrl),
    checkpointDirectory: look((from) => from.checkpointDirectory),
    backups: look((from) => from.backups),
    database: look((from) => from.database),
    standby: look((from) => from.standby),
    disk: seen(
      'disk',
      look((from) => from.disk),
    ),
    authority: seen(
      'ca',
      look((from) => from.authority),
    ),
    certificates: seen(
      'certificates',
      look((from) => from.certificates),
    ),
    limits: seen('process', async () => {
      const limits = (await unit())?.limits
      if (limits !== undefined) return limits
      throw new Unchecked('the hub does not run, and systemd does not know it', {
        isExpected: true,
      })
    }),
  }
}

async function elsewhere(): Promise<never> {
  throw new Unchecked('on the hub’s own machine, with svc doctor', { isExpected: true })
}

function once<T>(look: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= look()
    // A look that fails before anyone has asked for it fails nobody.
    underWay.catch(() => undefined)
    return underWay
  }
}
