// A hub that is a fake, a home without a login, and `svc` there; made anew for each test of a file.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, before, beforeEach } from 'node:test'
import { createFakeCa, type FakeCa } from '../fakes/hub-certificates.ts'
import { type SignInHub, type SignInRoute, startSignInHub } from '../fakes/sign-in-hub.ts'
import type { Ended } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'

/** Of each sign-in. */
export const STATE = 'fixed-state'
export const PASTED: string = `http://127.0.0.1:8400/callback?code=good-code&state=${STATE}\n`

export interface LoginScene {
  readonly ca: FakeCa
  readonly hub: SignInHub
  readonly home: string
  readonly rootPath: string
  readonly hubOptions: readonly string[]
  svc(args: readonly string[], input?: string): Promise<Ended>
  /** `svc login` by an address that is pasted. */
  paste(...args: string[]): Promise<Ended>
  keptFiles(): Promise<readonly string[]>
  countOf(route: SignInRoute): number
}

export function useLoginScene(): { readonly scene: LoginScene } {
  let ca: FakeCa
  const used = {} as { scene: LoginScene }
  before(async () => {
    ca = await createFakeCa()
  })
  beforeEach(async () => {
    used.scene = await openScene(ca)
  })
  afterEach(async () => {
    const { hub, home } = used.scene
    await hub[Symbol.asyncDispose]()
    await rm(home, { recursive: true })
  })
  return used
}

async function openScene(ca: FakeCa): Promise<LoginScene> {
  const hub = await startSignInHub({ ca, state: STATE })
  const home = await mkdtemp(join(tmpdir(), 'svc-login-'))
  const rootPath = join(home, 'root.pem')
  await writeFile(rootPath, hub.rootPem)
  const hubOptions = ['--hub', hub.url, '--hub-ca', rootPath]
  const svc = (args: readonly string[], input = ''): Promise<Ended> =>
    runSvcHere(args, { HOME: home }, input)
  return {
    ca,
    hub,
    home,
    rootPath,
    hubOptions,
    svc,
    paste: (...args) =>
      svc(['login', ...hubOptions, '--no-browser', '--port', '8400', ...args], PASTED),
    keptFiles: () => readdir(join(home, '.config', 'cartorio', 'logins')).catch(() => []),
    countOf: (route) => hub.asked.filter((asked) => asked.route === route).length,
  }
}
