// What `svc-server --check` looks at on this machine: files of secrets, the vault, ports, names.

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { stat, statfs } from 'node:fs/promises'
import { createServer, isIP, type Server } from 'node:net'
import type { BindAddress } from '../platform/bind-address.ts'
import { describeError, errnoCode } from '../platform/errors.ts'
import { unlessAborted } from '../platform/unless-aborted.ts'
import type { HubConfig } from './config.ts'
import { HUB_VARIABLES } from './hub-variables.ts'
import { unsealStandby } from './standby/run-standby.ts'
import { isStandby, requireNoOtherHub } from './standby/standby-role.ts'
import { lockVault, type UnsealedVault, unsealVault, type VaultLock } from './vault/vault.ts'

export interface Finding {
  readonly check:
    | 'settings'
    | 'files'
    | 'vault'
    | 'standby'
    | 'ports'
    | 'names'
    | 'database'
    | 'clock'
    | 'ca'
    | 'openid'
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** The setting to look at. */
  readonly variable?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

const OTHERS = 0o077
const LOOKUP_MS_MAX = 2000

/** They were read before; here it is who else may read them. */
export async function* findSecretFiles(env: Environment): AsyncGenerator<Finding> {
  const credentials = env['CREDENTIALS_DIRECTORY']
  for (const { name } of HUB_VARIABLES.filter(({ isSecret }) => isSecret)) {
    const variable = `${name}_FILE`
    const path = env[variable] ?? ''
    // What systemd hands over has a mode that means something else: an access list behind it.
    if (path === '' || (credentials !== undefined && path.startsWith(`${credentials}/`))) continue
    const mode = await stat(path).then(
      (found) => found.mode & 0o777,
      () => 0,
    )
    if ((mode & OTHERS) === 0) continue
    const message = `others may read ${path} (mode ${mode.toString(8)}): chmod 600 ${path}`
    yield { check: 'files', status: 'warning', message, variable }
  }
}

export interface VaultFindings {
  readonly findings: readonly Finding[]
  readonly isHubRunning: boolean
  /** Of a standby; undefined for a hub's, and for one that does not open. */
  readonly copy: UnsealedVault | undefined
}

/** Changes nothing, and also answers whether a hub has the vault open. */
export async function findVault(
  config: Pick<HubConfig, 'vaultRoot' | 'passphrase' | 'limits' | 'standby' | 'standbyOf'>,
): Promise<VaultFindings> {
  const { vaultRoot, passphrase, limits } = config
  const findings: Finding[] = []
  const note = (status: Finding['status'], message: string, variable?: string): void =>
    void findings.push({ check: 'vault', status, message, variable })
  let isHubRunning = false
  let copy: UnsealedVault | undefined
  try {
    const { mode } = await stat(vaultRoot)
    if ((mode & OTHERS) !== 0) {
      note('warning', `others may enter ${vaultRoot}: chmod 700 ${vaultRoot}`, 'SVC_VAULT_ROOT')
    }
    const { bavail, bsize } = await statfs(vaultRoot)
    if (bavail * bsize < limits.freeSpaceBytes && Number.isFinite(limits.freeSpaceBytes)) {
      note(
        'warning',
        `${bavail * bsize} bytes are free: the hub takes few events, or none`,
        'SVC_LIMIT_FREE_SPACE',
      )
    }
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') note('failed', describeError(error), 'SVC_VAULT_ROOT')
  }
  try {
    if (isStandby(config)) copy = await unsealStandby(config)
    else {
      requireNoOtherHub(vaultRoot)
      await unsealVault(vaultRoot, passphrase)
    }
    const lock = tryLock(vaultRoot)
    isHubRunning = lock === undefined
    lock?.release()
    const holder = copy ? 'this machine is a standby that runs' : 'a hub has it open'
    note('ok', `the passphrase opens it${isHubRunning ? `, and ${holder}` : ''}`)
  } catch (error) {
    const isPassphrase = describeError(error).includes('passphrase')
    note('failed', describeError(error), isPassphrase ? 'SVC_MASTER_PASSPHRASE' : 'SVC_VAULT_ROOT')
  }
  return { findings, isHubRunning, copy }
}

function tryLock(vaultRoot: string): VaultLock | undefined {
  try {
    return lockVault(vaultRoot)
  } catch (error) {
    if (errnoCode(error) === 'vault_locked') return undefined
    throw error
  }
}

type WantedAddress = readonly [
  variable: string,
  address: BindAddress | undefined,
  /** The hub starts without it. */
  isOptional?: boolean | undefined,
]

/** All at the same time, so that two settings with one address are found too. */
export async function* findPorts(
  config: HubConfig,
  isHubRunning: boolean,
): AsyncGenerator<Finding> {
  if (isHubRunning) {
    yield { check: 'ports', status: 'ok', message: 'not tried: the hub that runs has them' }
    return
  }
  const wanted: readonly WantedAddress[] = [
    ['SVC_HEALTH_BIND', config.healthBind],
    ['SVC_ENROLL_BIND', config.enrollBind],
    ['SVC_MTLS_BIND', config.mtlsBind],
    ['SVC_ENROLL_TLS_BIND', config.enrollTlsBind],
    ['SVC_ADMIN_BIND', config.adminBind],
    ['SVC_STANDBY_BIND', config.standby?.bind],
    ['SVC_METRICS_BIND', config.metricsBind?.address, config.metricsBind?.isDefault],
  ]
  const held: Server[] = []
  let isFree = true
  try {
    for (const [variable, address, isOptional] of wanted) {
      if (address === undefined) continue
      const server = createServer()
      const fault = await tryListening(server, address)
      held.push(server)
      if (fault === undefined) continue
      isFree = false
      const message = `cannot listen on ${address.host}:${address.port}: ${fault}`
      yield {
        check: 'ports',
        status: isOptional === true ? 'warning' : 'failed',
        message,
        variable,
      }
    }
  } finally {
    for (const server of held) server.close()
  }
  if (isFree) yield { check: 'ports', status: 'ok', message: 'every address is free' }
}

async function tryListening(
  server: Server,
  { host, port }: BindAddress,
): Promise<string | undefined> {
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening')
    return undefined
  } catch (error) {
    const code = errnoCode(error)
    return code === 'EADDRINUSE' ? 'address already in use' : (code ?? describeError(error))
  }
}

/** How other machines look names up cannot be known here: nothing of it keeps a hub from working. */
export async function* findNames({
  serverNames,
  isNamed,
}: Pick<HubConfig, 'serverNames' | 'isNamed'>): AsyncGenerator<Finding> {
  const warn = (message: string, variable: string): Finding => ({
    check: 'names',
    status: 'warning',
    message,
    variable,
  })
  if (!isNamed) yield warn(`hosts do not find ${serverNames[0]}: name the hub`, 'SVC_SERVER_CN')
  let isKnown = isNamed
  for (const [at, name] of serverNames.entries()) {
    if (isIP(name) !== 0 || name.startsWith('*.') || (at === 0 && !isNamed)) continue
    const fault = await findLookupFault(name)
    if (fault === undefined) continue
    isKnown = false
    const variable = at === 0 ? 'SVC_SERVER_CN' : 'SVC_SERVER_SANS'
    yield warn(`this machine does not find ${name} (${fault}); its hosts have to`, variable)
  }
  if (isKnown) yield { check: 'names', status: 'ok', message: serverNames.join(', ') }
}

async function findLookupFault(name: string): Promise<string | undefined> {
  try {
    await unlessAborted(lookup(name), AbortSignal.timeout(LOOKUP_MS_MAX))
    return undefined
  } catch (error) {
    return errnoCode(error) ?? describeError(error)
  }
}
