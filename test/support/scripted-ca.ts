// The fake CA as a hub's: it signs the hub's own certificate, and does what a script says for hosts.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CaBehaviour,
  type FakeCaOptions,
  type FakeCa,
  type RevokeBehaviour,
  type RevokeCall,
  type SignCall,
  startFakeCa,
} from '../fakes/ca-server.ts'
import { HUB_NAME } from './hub.ts'
import type { Variables } from './processes.ts'

export interface ScriptedCa extends AsyncDisposable, Pick<FakeCa, 'revokeCalls' | 'revoked'> {
  /** The four SVC_CA_* variables of a hub. */
  readonly environment: Variables
  /** The sign calls for hosts so far, those for the hub's own certificate left out. */
  hostCalls(): readonly SignCall[]
}

export async function startScriptedCa(
  script: (call: SignCall) => CaBehaviour,
  revokeScript: (call: RevokeCall) => RevokeBehaviour = () => ({ kind: 'revoke' }),
  { lifeMs }: Pick<FakeCaOptions, 'lifeMs'> = {},
): Promise<ScriptedCa> {
  const isOfHub = (call: SignCall): boolean => call.claims.sub === HUB_NAME
  const ca = await startFakeCa({
    script: (call) => (isOfHub(call) ? { kind: 'sign' } : script(call)),
    revokeScript,
    ...(lifeMs !== undefined && { lifeMs }),
  })
  const directory = await mkdtemp(join(tmpdir(), 'scripted-ca-'))
  const rootPath = join(directory, 'root.pem')
  await writeFile(rootPath, ca.rootPem)
  return {
    environment: {
      SVC_CA_URL: ca.url,
      SVC_CA_PROVISIONER_KID: ca.provisionerKid,
      SVC_CA_PROVISIONER_KEY: ca.provisionerKey,
      SVC_CA_ROOT_CA_PATH: rootPath,
    },
    revokeCalls: ca.revokeCalls,
    revoked: ca.revoked,
    hostCalls: () => ca.calls.filter((call) => !isOfHub(call)),
    [Symbol.asyncDispose]: async () => {
      await ca[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A promise that is kept when told so. */
export function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
