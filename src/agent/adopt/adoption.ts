// What is known of files that were taken over, for as long as that can be undone.

import { dirname, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { StopAction } from './renewers/renewer.ts'

/**
 * `taking`: the target is being put in place; nothing of the old renewer is touched. `stopping`: the new certificate is
 * served, and the renewer is being stopped. `adopted`: it is done. `undoing`: everything is being put back.
 */
const Phase = Type.Union([
  Type.Literal('taking'),
  Type.Literal('stopping'),
  Type.Literal('adopted'),
  Type.Literal('undoing'),
])

const Probe = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  protocol: Type.Union([Type.Literal('tls'), Type.Literal('postgres')]),
  server_name: Type.Union([Type.Null(), Type.String()]),
})

export const Adoption = Type.Object({
  format: Type.Literal(1),
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$' }),
  nome: Type.String(),
  services: Type.Array(Type.String()),
  phase: Phase,
  target_path: Type.String(),
  target_text: Type.String(),
  /** The copy of each is `old-<index>`; the hash is of what a service read there, links followed. */
  places: Type.Array(Type.Object({ path: Type.String(), sha256: Type.String() })),
  /** What the target had put there when the undo began; empty before. */
  applied: Type.Array(Type.Object({ path: Type.String(), sha256: Type.String() })),
  reload: Type.Array(Type.String()),
  probes: Type.Array(Probe),
  former_serial: Type.String(),
  former_not_after: Type.String(),
  /** Of one that changes a file, the copy is `stop-<index>`. */
  stops: Type.Array(StopAction),
})
export type Adoption = Static<typeof Adoption>
export type AdoptionProbe = Static<typeof Probe>

/** Beside a place, for as long as it takes to give it the name of the place. */
export function stagedPath({ id, places }: Adoption, index: number): string {
  return join(dirname(places[index]?.path ?? '/'), `.svc-adopt-${id}-${index}.new`)
}

export function stagedTargetPath(targetPath: string): string {
  return join(dirname(targetPath), '.svc-adopt.new')
}
