import type { TestHub } from './hub.ts'

type AgentVariable =
  | 'SVC_SERVER_URL'
  | 'SVC_SERVER_MTLS_URL'
  | 'SVC_AGENT_DATA_DIR'
  | 'SVC_AGENT_HOSTNAME'
  | 'SVC_AGENT_ROLE'

/** What svc-agent needs to be told of a hub, and of the host that it is on; its role is `web`. */
export function agentEnvironment(
  hub: Pick<TestHub, 'ports'>,
  { hostname, dataDir }: { readonly hostname: string; readonly dataDir: string },
): Record<AgentVariable, string> {
  return {
    SVC_SERVER_URL: `http://127.0.0.1:${hub.ports.enroll}`,
    SVC_SERVER_MTLS_URL: `https://localhost:${hub.ports.mtls}`,
    SVC_AGENT_DATA_DIR: dataDir,
    SVC_AGENT_HOSTNAME: hostname,
    SVC_AGENT_ROLE: 'web',
  }
}
