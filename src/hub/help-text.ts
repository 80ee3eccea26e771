// What `svc-server --help` prints, in the parts that its manual page is made of too.

import { HUB_SETTINGS } from '../protocol/hub-settings.ts'
import { HUB_VARIABLES } from './hub-variables.ts'

export const HUB_USAGE =
  'svc-server [--config <file>] [--standby <url>] [--check [--json]] [--help] [--version]'

export const HUB_DESCRIPTION = `\
The hub: enrols agents, issues and renews their certificates, hands out deliveries and keeps the audit log.
The hub reads its settings once, at start: from ${HUB_SETTINGS.path} where that file is, or from the
file of --config, one NAME=value a line. A variable of the environment wins over the file.

--standby makes it the standby of the hub at that URL, such as https://hub1:8447, which has SVC_STANDBY_BIND: it keeps a copy of the hub's
vault in a directory of \`svc standby init\`, until \`svc standby promote\` makes it the hub. SVC_STANDBY_OF is the same.

--check serves nothing. It tries the settings in seconds: files and their modes, the vault's passphrase, ports, names, the clock,
and the CA with a trial token, for which the CA signs nothing. It names the variable of each fault, and exits 1 when something failed.
`

export const HUB_EXAMPLES = `Examples:
  # A hub on a laptop: an embedded CA, a new vault, and the hub in front of it.
  umask 077
  openssl rand -base64 32 > passphrase
  svc-ca init --dir ./ca > ca.env
  svc-ca serve --dir ./ca &
  set -a; . ./ca.env; SVC_VAULT_ROOT=./vault; SVC_MASTER_PASSPHRASE_FILE=./passphrase; set +a
  svc init
  svc-server

  # Would it start, and would the CA sign for it?
  svc-server --check

  # A second machine that has every write, and can be made the hub.
  svc standby init --from config.json
  svc-server --standby https://hub1.example.org:8447

  # Everything that happens on the mTLS port, and the rest as usual.
  RUST_LOG=hub.mtls=debug,info svc-server
`

export function helpText(): string {
  const variables = HUB_VARIABLES.map(({ name, required, kind, default: value, meaning }) => {
    const need = kind === undefined ? 'required' : `required with SVC_CA_KIND=${kind}`
    const fallback = required ? need : `default: ${value || 'none'}`
    return `  ${name}  (${fallback})\n      ${meaning}`
  })
  return `Usage: ${HUB_USAGE}

${HUB_DESCRIPTION}
Variables:
${variables.join('\n')}

  A secret may also be read from a file: SVC_MASTER_PASSPHRASE_FILE, SVC_CA_PROVISIONER_KEY_FILE, and so on.

${HUB_EXAMPLES}`
}
