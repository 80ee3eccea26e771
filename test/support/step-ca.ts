// The real step-ca with a configuration written by hand: one JWK provisioner, no database, no password.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/platform/clock.ts'
import { createCaDirectory, loadCaDirectory } from '../../src/dev-ca/ca-directory.ts'
import { publicPartOf } from '../../src/dev-ca/provisioner.ts'
import { ensureStepCa } from '../../tools/install-step-ca.ts'
import { findFreePort } from './free-port.ts'
import { type RunningCa, startCaProcess } from './running-ca.ts'

export interface StepCaOptions {
  /** Where the CA lives, kept afterwards; else a temporary directory. */
  readonly directory?: string
  /** In Go's spelling; `24h` unless given. */
  readonly certDuration?: string
  /** How many other provisioners it has before ours, so that a list of them has several pages. */
  readonly otherProvisioners?: number
}

const PROVISIONER_NAME = 'cartorio-test'

/** Throws where step-ca is not there: ask ensureStepCa() first and skip. */
export async function startStepCa(options: StepCaOptions = {}): Promise<RunningCa> {
  const program = await ensureStepCa()
  if (program === undefined) throw new Error('step-ca is not installed, and there is no Go')
  const temporary =
    options.directory === undefined ? await mkdtemp(join(tmpdir(), 'step-ca-')) : undefined
  const directory = options.directory ?? temporary ?? ''
  await mkdir(directory, { recursive: true })
  const port = await findFreePort()
  const configured = await writeConfiguration(directory, port, options)
  const place = { url: `https://127.0.0.1:${port}`, rootPath: configured.rootPath }
  const args = [join(directory, 'ca.json')]
  let running = await startCaProcess(program, args, place)
  return {
    ...place,
    provisionerKid: configured.provisionerKid,
    provisionerKey: configured.provisionerKey,
    provisionerName: PROVISIONER_NAME,
    environment: {
      SVC_CA_URL: place.url,
      SVC_CA_PROVISIONER_KID: configured.provisionerKid,
      SVC_CA_PROVISIONER_KEY: configured.provisionerKey,
      SVC_CA_ROOT_CA_PATH: place.rootPath,
    },
    stop: () => running.stop(),
    start: async () => {
      running = await startCaProcess(program, args, place)
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop()
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
    },
  }
}

interface Configured {
  readonly rootPath: string
  readonly provisionerKid: string
  readonly provisionerKey: string
}

async function writeConfiguration(
  directory: string,
  port: number,
  { certDuration = '24h', otherProvisioners = 0 }: StepCaOptions,
): Promise<Configured> {
  const pki = join(directory, 'pki')
  const listen = `127.0.0.1:${port}`
  const dnsNames = ['localhost', '127.0.0.1']
  await createCaDirectory(
    pki,
    { name: 'step', provisionerName: PROVISIONER_NAME, dnsNames, listen, certDurationMs: 0 },
    systemClock,
  )
  const { provisionerJwk } = await loadCaDirectory(pki)
  const key = publicPartOf(provisionerJwk)
  const others = Array.from({ length: otherProvisioners }, (_, index) => ({
    type: 'JWK',
    name: `other-${index}`,
    key: { ...key, kid: `other-${index}` },
  }))
  const claims = {
    minTLSCertDuration: certDuration.endsWith('h') ? '5m' : certDuration,
    maxTLSCertDuration: '24h',
    defaultTLSCertDuration: certDuration,
  }
  const provisioner = { type: 'JWK', name: PROVISIONER_NAME, key, claims }
  const configuration = {
    root: join(pki, 'root.crt'),
    crt: join(pki, 'intermediate.crt'),
    key: join(pki, 'intermediate.key'),
    address: listen,
    dnsNames,
    logger: { format: 'json' },
    authority: { provisioners: [...others, provisioner] },
  }
  await writeFile(join(directory, 'ca.json'), JSON.stringify(configuration, null, 2))
  return {
    rootPath: configuration.root,
    provisionerKid: provisionerJwk.kid,
    provisionerKey: JSON.stringify(provisionerJwk),
  }
}
