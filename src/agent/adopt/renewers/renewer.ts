// Who puts new certificates into a file until now, and how that is ended for this one alone.

import { type Static, Type } from 'typebox'
import type { ConfigReader } from '../config-reader.ts'

/** What ends a renewer for these files, and is taken back byte for byte. */
export const StopAction = Type.Union([
  /** Its own file of settings gets a name that it does not look for. */
  Type.Object({ kind: Type.Literal('rename'), from: Type.String(), to: Type.String() }),
  Type.Object({
    kind: Type.Literal('unit'),
    unit: Type.String(),
    is_enabled: Type.Boolean(),
    is_active: Type.Boolean(),
  }),
  /** One line of a table of cron becomes a comment. */
  Type.Object({ kind: Type.Literal('line'), path: Type.String(), line: Type.String() }),
])
export type StopAction = Static<typeof StopAction>

export interface Renewer {
  readonly kind: 'certbot' | 'acme.sh' | 'step' | 'cron' | 'cert-manager csi'
  readonly name: string
  /** Undefined where it cannot be stopped from here. */
  readonly stop: StopAction | undefined
  readonly notes: readonly string[]
}

/** A file as a service reads it. */
export interface ReadPath {
  readonly path: string
  /** Where its links lead. */
  readonly realPath: string
}

export type FindRenewer = (
  reader: ConfigReader,
  file: ReadPath,
) => readonly Renewer[] | Promise<readonly Renewer[]>

/** Beside the file that it was. certbot looks for `*.conf`, acme.sh for the name of the directory. */
export const STOPPED_SUFFIX = '.svc-adopted'

/** Before a line of cron that is stopped. */
export const STOPPED_LINE = '# svc-agent adopt: '

/** What is stopped, however it was found: once it is stopped, some of it looks otherwise. */
export function stopKeyOf(stop: StopAction): string {
  if (stop.kind === 'rename') return `rename ${stop.from}`
  if (stop.kind === 'unit') return `unit ${stop.unit}`
  return `line ${stop.path} ${stop.line}`
}

export function describeStop(stop: StopAction): string {
  if (stop.kind === 'rename') return `renames ${stop.from} to ${stop.to}`
  if (stop.kind === 'unit') return `systemctl disable --now ${stop.unit}`
  return `makes a comment of this line of ${stop.path}: ${stop.line.trim()}`
}
