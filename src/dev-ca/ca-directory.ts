// The directory that is the CA: certificates, keys and settings. It is made beside its place and appears whole.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { errnoCode, SvcError, UserError } from '../platform/errors.ts'
import { readTextIfPresent, syncDirectory, writeNewFile } from '../platform/files.ts'
import { generateEcP256Key, parsePrivateKeyPem, type PrivateKey } from '../pki/keys.ts'
import { createIssuer, createRootPem } from './issuer.ts'
import { generateProvisionerJwk, type ProvisionerPrivateJwk } from './provisioner.ts'
import { BACKDATE_MS } from './validity.ts'

export interface CaSettings {
  readonly name: string
  readonly provisionerName: string
  /** The names and addresses by which clients call the CA. */
  readonly dnsNames: readonly string[]
  readonly listen: string
  readonly certDurationMs: number
}

export interface CaFiles {
  readonly settings: CaSettings
  readonly rootPem: string
  readonly intermediatePem: string
  readonly intermediateKey: PrivateKey
  readonly provisionerJwk: ProvisionerPrivateJwk
}

const FILES = {
  settings: 'ca.json',
  root: 'root.crt',
  rootKey: 'root.key',
  intermediate: 'intermediate.crt',
  intermediateKey: 'intermediate.key',
  provisioner: 'provisioner.jwk',
  revocations: 'revoked.json',
} as const

const ISSUER_LIFE_MS = 3650 * 86_400_000
const FILE_BYTES_MAX = 64 * 1024

export function rootPathOf(directory: string): string {
  return join(resolve(directory), FILES.root)
}

export function revocationsPathOf(directory: string): string {
  return join(resolve(directory), FILES.revocations)
}

/** Makes a new CA; a directory that holds anything is never touched. */
export async function createCaDirectory(
  directory: string,
  settings: CaSettings,
  clock: Clock,
): Promise<void> {
  const place = resolve(directory)
  await refuseNonEmptyDirectory(place)
  await mkdir(dirname(place), { recursive: true })
  const staged = join(dirname(place), `.${basename(place)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await mkdir(staged, { mode: 0o700 })
    await writeCaFiles(staged, settings, clock)
    // Takes the place of an empty directory; fails on any other, should one have appeared meanwhile.
    await rename(staged, place)
  } catch (error) {
    await rm(staged, { recursive: true, force: true })
    throw error
  }
  await syncDirectory(dirname(place))
}

export async function loadCaDirectory(directory: string): Promise<CaFiles> {
  const read = async (name: string): Promise<string> => {
    const text = await readTextIfPresent(join(directory, name), FILE_BYTES_MAX)
    if (text !== undefined) return text
    throw new UserError('no_ca', `no CA at ${directory}: ${name} is missing`, {
      hint: `svc-ca init --dir ${directory} makes one`,
    })
  }
  const settingsText = await read(FILES.settings)
  const files = {
    rootPem: await read(FILES.root),
    intermediatePem: await read(FILES.intermediate),
    intermediateKeyPem: await read(FILES.intermediateKey),
    provisionerText: await read(FILES.provisioner),
  }
  try {
    return {
      // Written by createCaDirectory and by nobody else.
      settings: JSON.parse(settingsText) as CaSettings,
      rootPem: files.rootPem,
      intermediatePem: files.intermediatePem,
      intermediateKey: parsePrivateKeyPem(files.intermediateKeyPem),
      provisionerJwk: JSON.parse(files.provisionerText) as ProvisionerPrivateJwk,
    }
  } catch {
    // Neither parser's message may be shown: it can quote the key.
    throw new SvcError('corrupt_ca', `a file of the CA at ${directory} is damaged`)
  }
}

async function refuseNonEmptyDirectory(place: string): Promise<void> {
  const names = await readdir(place).catch((error: unknown): string[] => {
    if (errnoCode(error) === 'ENOENT') return []
    if (errnoCode(error) === 'ENOTDIR') {
      throw new UserError('not_a_directory', `${place} is not a directory`)
    }
    throw error
  })
  if (names.includes(FILES.settings)) {
    throw new UserError('ca_exists', `CA already initialised at ${place}`)
  }
  if (names.length > 0) {
    throw new UserError('directory_not_empty', `${place} is not empty`, {
      hint: 'name a directory that does not exist yet',
    })
  }
}

async function writeCaFiles(directory: string, settings: CaSettings, clock: Clock): Promise<void> {
  const [rootKey, intermediateKey] = [await generateEcP256Key(), await generateEcP256Key()]
  const validity = {
    notBefore: new Date(clock.now().getTime() - BACKDATE_MS),
    notAfter: new Date(clock.now().getTime() + ISSUER_LIFE_MS),
  }
  const rootPem = await createRootPem(
    { commonName: `${settings.name} Root CA`, ...validity },
    rootKey,
  )
  const root = await createIssuer(rootPem, rootKey)
  const intermediatePem = await root.issueIntermediate({
    commonName: `${settings.name} Intermediate CA`,
    publicKeySpki: intermediateKey.publicKeySpki,
    ...validity,
  })
  const write = (name: string, content: string, mode: number): Promise<void> =>
    writeNewFile(join(directory, name), content, mode)
  await write(FILES.root, rootPem, 0o644)
  await write(FILES.rootKey, rootKey.pem, 0o600)
  await write(FILES.intermediate, intermediatePem, 0o644)
  await write(FILES.intermediateKey, intermediateKey.pem, 0o600)
  await write(FILES.provisioner, `${JSON.stringify(await generateProvisionerJwk())}\n`, 0o600)
  await write(FILES.settings, `${JSON.stringify(settings, null, 2)}\n`, 0o600)
  await syncDirectory(directory)
}
