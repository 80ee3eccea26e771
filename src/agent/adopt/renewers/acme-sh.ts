// acme.sh: a directory for each certificate with its settings in `NAME.conf`, which `acme.sh --remove` renames too.

import { basename, dirname, join } from 'node:path'
import type { ConfigReader } from '../config-reader.ts'
import { type FindRenewer, type ReadPath, type Renewer, STOPPED_SUFFIX } from './renewer.ts'

const INSTALLED_AS = /^Le_Real(?:Cert|CACert|Key|FullChain)Path='?([^'\n]*)'?$/gm
const ENCODED = /^__ACME_BASE64__START_([A-Za-z0-9+/=]*)__ACME_BASE64__END_$/

/** `homes`: directories of users that are root's alone; others are not root's to change. */
export function findAcmeSh(homes: readonly string[]): FindRenewer {
  return (reader, file) => {
    const inside = lineageAround(reader, file)
    if (inside !== undefined) return [inside]
    for (const home of homes) {
      const base = join(home, '.acme.sh')
      for (const directory of reader.list(base) ?? []) {
        const found = lineageIn(reader, join(base, directory), file.path)
        if (found !== undefined) return [found]
      }
    }
    return []
  }
}

/** A service may read the very files that acme.sh keeps for itself. */
function lineageAround(reader: ConfigReader, { realPath }: ReadPath): Renewer | undefined {
  const directory = dirname(realPath)
  const text = readConf(reader, directory)
  return text !== undefined && /^Le_Domain=/m.test(text) ? describe(directory, text) : undefined
}

function lineageIn(reader: ConfigReader, directory: string, path: string): Renewer | undefined {
  if (!basename(directory).includes('.')) return undefined
  const text = readConf(reader, directory)
  if (text === undefined) return undefined
  const installed = [...text.matchAll(INSTALLED_AS)].map(([, value = '']) => value)
  const written = [...installed, haproxyFileOf(text) ?? ''].filter((one) => one !== '')
  const isIt = written.some((one) => reader.place(one) === path)
  return isIt ? describe(directory, text) : undefined
}

/** What its deploy hook for HAProxy writes: certificate and key in one file. */
function haproxyFileOf(text: string): string | undefined {
  if (!valueOf(text, 'Le_DeployHook').split(',').includes('haproxy')) return undefined
  const directory = valueOf(text, 'SAVED_DEPLOY_HAPROXY_PEM_PATH') || '/etc/haproxy'
  const name = valueOf(text, 'SAVED_DEPLOY_HAPROXY_PEM_NAME') || `${valueOf(text, 'Le_Domain')}.pem`
  return join(directory, name)
}

function valueOf(text: string, key: string): string {
  return new RegExp(`^${key}='?(.*?)'?$`, 'm').exec(text)?.[1] ?? ''
}

function confIn(directory: string): string {
  return join(directory, `${basename(directory).replace(/_ecc$/, '')}.conf`)
}

/** Another adoption may have stopped it: it is stopped for this one too. */
function readConf(reader: ConfigReader, directory: string): string | undefined {
  const path = confIn(directory)
  return reader.read(path) ?? reader.read(`${path}${STOPPED_SUFFIX}`)
}

function describe(directory: string, text: string): Renewer {
  const from = confIn(directory)
  const given = valueOf(text, 'Le_ReloadCmd') || valueOf(text, 'SAVED_DEPLOY_HAPROXY_RELOAD')
  const reload = decoded(given)
  const hooks = ['Le_PreHook', 'Le_PostHook', 'Le_RenewHook', 'Le_DeployHook'].flatMap((key) => {
    const value = valueOf(text, key).replace(/,$/, '')
    return value === '' ? [] : [`acme.sh ran its ${key} at a renewal: ${decoded(value)}`]
  })
  return {
    kind: 'acme.sh',
    name: basename(directory),
    stop: { kind: 'rename', from, to: `${from}${STOPPED_SUFFIX}` },
    notes: [...(reload === '' ? [] : [`acme.sh ran after a renewal: ${reload}`]), ...hooks],
  }
}

function decoded(value: string): string {
  const encoded = ENCODED.exec(value)?.[1]
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8')
}
