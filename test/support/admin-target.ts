// A test hub as it is asked from outside: its admin port over TLS, and `svc`.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { HUB_NAME, type TestHub } from './hub.ts'
import type { SharedHub } from './use-hub.ts'
import type { Target } from './wire-client.ts'

/** Anew for each request: a hub that starts again has another port. */
export async function adminTargetOf({ ca, hub }: SharedHub): Promise<Target> {
  const trusted = await readFile(ca.rootPath, 'utf8')
  return { port: hub.ports.admin ?? 0, tls: { ca: trusted, servername: HUB_NAME } }
}

/** The document that a command prints. */
export async function svcJson(
  hub: TestHub,
  command: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, stdout, stderr } = await hub.svc(...command.split(' '), '--json')
  assert.deepEqual([status, stderr], [0, ''], command)
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}
