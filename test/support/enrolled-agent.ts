// The agent in this process, enrolled at a fake hub: what a test of its rounds starts from.

import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from './agent-host.ts'

export interface EnrolledAgent extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
}

export async function startEnrolledAgent(identityLifetimeMs?: number): Promise<EnrolledAgent> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll(identityLifetimeMs)
  return { hub, host, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
