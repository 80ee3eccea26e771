// The real step-ca with a configuration written by hand: a JWK provisioner, keys without a password.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/platform/clock.ts'
import { type CaFiles, createCaDirectory, loadCaDirectory } from '../../src/dev-ca/ca-directory.ts'
import { publicPartOf } from '../../src/dev-ca/provisioner.ts'
import { ensureStepCa } from '../../tools/install-step-ca.ts'
import { findFreePort } from './free-port.ts'
import { isCaHealthy, type RunningCa, startCaProcess } from './running-ca.ts'

export interface StepCaOptions {
  /** Where the CA lives, kept afterwards; else a temporary directory. */
  readonly directory?: string
  /** In Go's spelling; `24h` unless given. */
  readonly certDuration?: string
  /** How many other provisioners it has before ours, so that a list of them has several pages. */
  readonly otherProvisioners?: number
  /** Without one it cannot revoke. */
  readonly hasDatabase?: boolean
  /** Serves a list of what is revoked at /1.0/crl. */
  readonly hasCrl?: boolean
}

export interface RunningStepCa extends RunningCa {
  /** Until it is stopped; then that of the next one. */
  readonly pid: number
}

/** What it takes to start it, for those who start it themselves. */
export interface ConfiguredStepCa extends Omit<
  RunningCa,
  'provisionerName' | 'start' | 'stop' | typeof Symbol.asyncDispose
> {
  readonly program: string
  readonly args: readonly string[]
  isHealthy(): Promise<boolean>
}

const PROVISIONER_NAME = 'cartorio-test'

/** Throws where step-ca is not there: ask ensureStepCa() first and skip. */
export async function startStepCa(options: StepCaOptions = {}): Promise<RunningStepCa> {
  const temporary =
    options.directory === undefined ? await mkdtemp(join(tmpdir(), 'step-ca-')) : undefined
  const configured = await configureStepCa(options.directory ?? temporary ?? '', options)
  const { program, args } = configured
  let running = await startCaProcess(program, args, configured)
  return {
    ...configured,
    provisionerName: PROVISIONER_NAME,
    get pid() {
      return running.pid
    },
    stop: () => running.stop(),
    start: async () => {
      running = await startCaProcess(program, args, configured)
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop()
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
    },
  }
}

/** Makes its keys, certificates and configuration in a directory, for a port that is free now. */
export async function configureStepCa(
  directory: string,
  options: StepCaOptions = {},
): Promise<ConfiguredStepCa> {
  const program = await ensureStepCa()
  if (program === undefined) throw new Error('step-ca is not installed, and there is no Go')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const port = await findFreePort()
  const { rootPath, rootPem, provisionerJwk } = await writeConfiguration(directory, port, options)
  const url = `https://127.0.0.1:${port}`
  const provisionerKey = JSON.stringify(provisionerJwk)
  return {
    program,
    args: [join(directory, 'ca.json')],
    url,
    rootPath,
    provisionerKid: provisionerJwk.kid,
    provisionerKey,
    environment: {
      SVC_CA_URL: url,
      SVC_CA_PROVISIONER_KID: provisionerJwk.kid,
      SVC_CA_PROVISIONER_KEY: provisionerKey,
      SVC_CA_ROOT_CA_PATH: rootPath,
    },
    isHealthy: () => isCaHealthy(url, rootPem),
  }
}

interface WrittenConfiguration extends Pick<CaFiles, 'rootPem' | 'provisionerJwk'> {
  readonly rootPath: string
}

async function writeConfiguration(
  directory: string,
  port: number,
  {
    certDuration = '24h',
    otherProvisioners = 0,
    hasDatabase = true,
    hasCrl = false,
  }: StepCaOptions,
): Promise<WrittenConfiguration> {
  const pki = join(directory, 'pki')
  const listen = `127.0.0.1:${port}`
  const dnsNames = ['localhost', '127.0.0.1']
  await createCaDirectory(
    pki,
    { name: 'step', provisionerName: PROVISIONER_NAME, dnsNames, listen, certDurationMs: 0 },
    systemClock,
  )
  const { rootPem, provisionerJwk } = await loadCaDirectory(pki)
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
    // Revocations, and used tokens across restarts, need one.
    ...(hasDatabase ? { db: { type: 'badgerv2', dataSource: join(directory, 'db') } } : {}),
    ...(hasCrl ? { crl: { enabled: true, generateOnRevoke: true } } : {}),
    authority: { provisioners: [...others, provisioner] },
  }
  await writeFile(join(directory, 'ca.json'), JSON.stringify(configuration, null, 2))
  return { rootPath: configuration.root, rootPem, provisionerJwk }
}
