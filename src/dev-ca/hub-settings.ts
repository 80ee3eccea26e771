// The four settings with which a hub uses this CA.

import { type CaFiles, rootPathOf } from './ca-directory.ts'
import { parseListenAddress } from './listen-address.ts'

export type HubSettings = Readonly<
  Record<
    'SVC_CA_URL' | 'SVC_CA_PROVISIONER_KID' | 'SVC_CA_PROVISIONER_KEY' | 'SVC_CA_ROOT_CA_PATH',
    string
  >
>

export function hubSettingsOf(directory: string, files: CaFiles): HubSettings {
  return {
    SVC_CA_URL: caUrlOf(files),
    SVC_CA_PROVISIONER_KID: files.provisionerJwk.kid,
    SVC_CA_PROVISIONER_KEY: JSON.stringify(files.provisionerJwk),
    SVC_CA_ROOT_CA_PATH: rootPathOf(directory),
  }
}

/** Lines for a POSIX shell. */
export function renderForShell(settings: HubSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`)
    .join('')
}

/** The address it listens on, where its certificate names that; else its first name. */
function caUrlOf({ settings }: CaFiles): string {
  const { host, port } = parseListenAddress(settings.listen)
  const name = settings.dnsNames.includes(host) ? host : (settings.dnsNames[0] ?? host)
  return `https://${name.includes(':') ? `[${name}]` : name}:${port}`
}
