import { systemClock } from '../platform/clock.ts'
import { parseDurationMs } from '../platform/durations.ts'
import { UserError } from '../platform/errors.ts'
import { writeOut } from '../platform/standard-output.ts'
import { createCaDirectory, loadCaDirectory } from './ca-directory.ts'
import { hubSettingsOf, renderForShell } from './hub-settings.ts'
import { parseListenAddress } from './listen-address.ts'

export interface InitRequest {
  readonly directory: string
  readonly name: string
  readonly dnsNames: readonly string[]
  readonly listen: string
  readonly certDuration: string
  readonly json: boolean
}

const PROVISIONER_NAME = 'cartorio'
const NAME_CHARACTERS_MAX = 40
const DNS_NAME = /^[A-Za-z0-9.:-]{1,253}$/

export async function runInit(request: InitRequest): Promise<void> {
  const { directory, listen } = request
  parseListenAddress(listen)
  await createCaDirectory(
    directory,
    {
      name: parseName(request.name),
      provisionerName: PROVISIONER_NAME,
      dnsNames: request.dnsNames.map(parseDnsName),
      listen,
      certDurationMs: parseCertDurationMs(request.certDuration),
    },
    systemClock,
  )
  const settings = hubSettingsOf(directory, await loadCaDirectory(directory))
  await writeOut(request.json ? `${JSON.stringify(settings, null, 2)}\n` : renderForShell(settings))
}

/** With what is added to it, it has to fit into a CN. */
function parseName(text: string): string {
  if (text !== '' && text.length <= NAME_CHARACTERS_MAX) return text
  throw new UserError('name_invalid', `a name has 1 to ${NAME_CHARACTERS_MAX} characters`)
}

function parseDnsName(text: string): string {
  if (DNS_NAME.test(text)) return text.toLowerCase()
  throw new UserError('dns_name_invalid', `not a DNS name or IP address: ${text}`)
}

function parseCertDurationMs(text: string): number {
  const durationMs = parseDurationMs(text)
  if (durationMs !== undefined && durationMs >= 1000) return durationMs
  throw new UserError('duration_invalid', `not a duration of at least a second: ${text}`, {
    hint: 'durations are written 10m, 24h, 1h 30m',
  })
}
