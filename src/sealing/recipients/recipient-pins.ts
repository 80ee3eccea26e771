// Whom this person has sealed for before, and what: the hub says whose recipient is which and what a carga holds, and a hub that
// lies is found out by what is remembered here. docs/protocol.md SEA-5.

export interface AgentPin {
  readonly hostname: string
  readonly fingerprint: string
}

export interface CargoPin {
  readonly versao: number
  /** Of the sealed file. */
  readonly sha256: string
}

export interface RecipientPins {
  /** By the agent's id, which it keeps when it enrols again. */
  readonly agents: ReadonlyMap<string, AgentPin>
  /** Fingerprints of recipients besides agents. */
  readonly escrow: ReadonlySet<string>
  /** What was sealed last for each, by the carga's id. */
  readonly cargoes: ReadonlyMap<string, CargoPin>
}

export const NO_PINS: RecipientPins = { agents: new Map(), escrow: new Set(), cargoes: new Map() }

/** `recipients.json`. */
export const PIN_FILE_BYTES_MAX: number = 16 * 1024 * 1024

/** Undefined when the text has no version that this program knows. */
export function parsePins(text: string): RecipientPins | undefined {
  const { version, agentes, escrow, cargas = {} } = (parseJson(text) ?? {}) as Partial<Document>
  const isKnown =
    version === 1 &&
    isRecordOf(agentes, isAgentPin) &&
    isRecordOf(cargas, isCargoPin) &&
    Array.isArray(escrow) &&
    escrow.every((print) => typeof print === 'string')
  if (!isKnown) return undefined
  return {
    agents: new Map(Object.entries(agentes)),
    escrow: new Set(escrow),
    cargoes: new Map(Object.entries(cargas)),
  }
}

export function renderPins({ agents, escrow, cargoes }: RecipientPins): string {
  const document: Document = {
    version: 1,
    agentes: Object.fromEntries(agents),
    escrow: [...escrow],
    cargas: Object.fromEntries(cargoes),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Where both know an agent or a carga, it is `more` that counts. */
export function addPins(known: RecipientPins, more: RecipientPins): RecipientPins {
  return {
    agents: new Map([...known.agents, ...more.agents]),
    escrow: new Set([...known.escrow, ...more.escrow]),
    cargoes: new Map([...known.cargoes, ...more.cargoes]),
  }
}

export function hasPins({ agents, escrow, cargoes }: RecipientPins): boolean {
  return agents.size > 0 || escrow.size > 0 || cargoes.size > 0
}

/** Files of earlier versions leave `cargas` out. */
interface Document {
  readonly version: 1
  readonly agentes: Readonly<Record<string, AgentPin>>
  readonly escrow: readonly string[]
  readonly cargas?: Readonly<Record<string, CargoPin>>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isRecordOf<Value>(
  value: unknown,
  isValue: (each: unknown) => each is Value,
): value is Record<string, Value> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isValue)
  )
}

function isAgentPin(value: unknown): value is AgentPin {
  const { hostname, fingerprint } = (value ?? {}) as Partial<AgentPin>
  return typeof hostname === 'string' && typeof fingerprint === 'string'
}

function isCargoPin(value: unknown): value is CargoPin {
  const { versao, sha256 } = (value ?? {}) as Partial<CargoPin>
  return Number.isInteger(versao) && typeof sha256 === 'string'
}
