// What the agent says of itself with each request. docs/protocol.md SRF-16.

export interface AgentName {
  readonly version: string
  /** Another one for each process: the hub tells by it whether an identity is used from two places. */
  readonly instance?: string | undefined
}

export function userAgentOf({ version, instance }: AgentName): string {
  const name = `svc-agent/${version}`
  if (instance === undefined) return name
  return `${name} (${process.platform}-${process.arch}; instance=${instance})`
}
