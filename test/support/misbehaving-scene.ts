// A provider that misbehaves as a test says, and the settings of a hub that trusts it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type MisbehavingProvider,
  startMisbehavingProvider,
} from '../fakes/misbehaving-provider.ts'
import type { Variables } from './processes.ts'

export interface MisbehavingScene extends AsyncDisposable {
  readonly provider: MisbehavingProvider
  /** Whoever is of its group staff is a viewer. */
  readonly variables: Variables
}

export async function openMisbehavingScene(): Promise<MisbehavingScene> {
  const stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'oidc-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const provider = stack.use(await startMisbehavingProvider('cartorio'))
  const caPath = join(directory, 'ca.pem')
  await writeFile(caPath, provider.rootPem)
  const variables = {
    SVC_OIDC_ISSUER: provider.issuer,
    SVC_OIDC_CLIENT_ID: 'cartorio',
    SVC_OIDC_CA_PATH: caPath,
    SVC_OIDC_ROLES: 'viewer=staff',
  }
  return { provider, variables, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
