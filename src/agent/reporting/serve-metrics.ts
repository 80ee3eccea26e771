// The agent's metrics port. Loaded only where SVC_AGENT_METRICS_BIND asks for it, and its library with it.

import { realpath } from 'node:fs/promises'
import type { BindAddress } from '../../platform/bind-address.ts'
import type { Clock } from '../../platform/clock.ts'
import { exists } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { createMetricSet, type MetricSet } from '../../platform/metric-set.ts'
import { type MetricsServer, startMetricsServer } from '../../platform/metrics-server.ts'
import type { HookRunner } from '../delivery/hook-runner.ts'
import type { LogWatch } from '../witness/log-watch.ts'
import type { HubTime } from '../hub/time.ts'
import { updateNames } from '../update/update-files.ts'
import { AGENT_METRICS, TARGET_RESULTS, type AgentMetrics } from './agent-metrics.ts'
import { decideAgentReadiness } from './agent-readiness.ts'
import type { AgentStatus, RoundResult } from './status.ts'

/** What is counted while it happens. */
export interface AgentMeters {
  readonly set: MetricSet<AgentMetrics>
  watchRound<Result extends RoundResult>(round: Promise<Result>): Promise<Result>
  watchHooks(runner: HookRunner): HookRunner
  readonly lastSuccess: Date | undefined
}

export interface AgentMetricsOptions {
  readonly meters: AgentMeters
  readonly clock: Clock
  readonly log: Logger
  readonly version: string
  readonly pollIntervalMs: number
  readonly readStatus: () => Promise<AgentStatus>
  readonly lastResult: () => RoundResult | undefined
  readonly hubTime: Pick<HubTime, 'skewMs'>
  readonly logWatch: Pick<LogWatch, 'isHubReplaced'>
  readonly targets: {
    lastResults(): readonly { readonly source: string; readonly result: string }[]
  }
}

const FAILED_RESULTS: ReadonlySet<string> = new Set(['reverted', 'held_back', 'stuck'])
const STATUS_AGE_MS_MAX = 5000

export function createAgentMeters(): AgentMeters {
  const set = createMetricSet(AGENT_METRICS)
  let lastSuccess: Date | undefined
  return {
    set,
    watchRound: async (round) => {
      const startMs = performance.now()
      const result = await round
      set.add('svc_agent_rounds_total', { outcome: result.outcome })
      set.observe('svc_agent_round_duration_seconds', {}, (performance.now() - startMs) / 1000)
      if (result.outcome === 'completed') lastSuccess = result.finishedAt
      return result
    },
    watchHooks: (runner) => ({
      run: async (invocation) => {
        const failures = await runner.run(invocation)
        if (failures.length > 0) set.add('svc_agent_hook_failures_total', {}, failures.length)
        return failures
      },
    }),
    get lastSuccess() {
      return lastSuccess
    },
  }
}

/** Rejects with the system's error when the address cannot be bound. */
export function serveAgentMetrics(
  address: BindAddress,
  options: AgentMetricsOptions,
): Promise<MetricsServer> {
  const { meters, log } = options
  const readStatus = rarely(options)
  const checkReadiness = async () =>
    decideAgentReadiness({
      status: await readStatus(),
      lastResult: options.lastResult(),
      now: options.clock.now(),
      pollIntervalMs: options.pollIntervalMs,
      failedTargets: options.targets
        .lastResults()
        .filter(({ result }) => FAILED_RESULTS.has(result))
        .map(({ source, result }) => `${source}: ${result}`),
    })
  return startMetricsServer(address, {
    log,
    checkReadiness,
    render: async () => {
      await collect(options, await readStatus())
      const readiness = Object.entries(await checkReadiness())
      meters.set.replace(
        'svc_agent_ready',
        readiness.map(([subsystem, { isReady }]) => ({
          labels: { subsystem },
          value: isReady ? 1 : 0,
        })),
      )
      return meters.set.render()
    },
  })
}

/** It reads every pair from the disk: at most once in a few seconds, however often a client asks. */
function rarely({ readStatus, clock }: AgentMetricsOptions): () => Promise<AgentStatus> {
  let known: { readonly status: AgentStatus; readonly atMs: number } | undefined
  return async () => {
    const atMs = clock.now().getTime()
    if (known !== undefined && Math.abs(atMs - known.atMs) < STATUS_AGE_MS_MAX) return known.status
    const status = await readStatus()
    known = { status, atMs }
    return status
  }
}

async function collect(options: AgentMetricsOptions, status: AgentStatus): Promise<void> {
  const { meters, version, hubTime, targets } = options
  const { set } = meters
  const one = (value: number | undefined) => (value === undefined ? [] : [{ labels: {}, value }])
  const hostname = status.identity?.hostname ?? ''
  set.replace('svc_agent_build_info', [{ labels: { version, hostname }, value: 1 }])
  set.replace('svc_agent_last_success_timestamp_seconds', one(secondsOf(meters.lastSuccess)))
  set.replace('svc_agent_certificate_not_after_timestamp_seconds', certificatesOf(status))
  set.replace('svc_agent_survival_seconds', one(status.survival_seconds ?? undefined))
  set.replace('svc_agent_outbox_events', one(status.events_waiting))
  set.replace('svc_agent_log_alarms', one(status.log?.alarms.length))
  set.replace('svc_agent_hub_replaced', one(options.logWatch.isHubReplaced ? 1 : 0))
  const failing = status.deliveries.filter(({ hook_failure }) => hook_failure !== null)
  set.replace('svc_agent_hooks_failing', one(failing.length))
  const results = targets.lastResults()
  set.replace(
    'svc_agent_targets',
    TARGET_RESULTS.map((result) => ({
      labels: { result },
      value: results.filter((target) => target.result === result).length,
    })),
  )
  set.replace('svc_agent_roots_refused', one(status.roots?.refused ? 1 : 0))
  const { skewMs } = hubTime
  set.replace('svc_agent_clock_skew_seconds', one(skewMs === undefined ? undefined : skewMs / 1000))
  // Where nothing can be updated there are no such files.
  const binary = await realpath(process.execPath)
  const files = { pending: updateNames(binary).marker, failed: `${binary}.failed` }
  set.replace(
    'svc_agent_update',
    await Promise.all(
      Object.entries(files).map(async ([state, path]) => ({
        labels: { state },
        value: (await exists(path)) ? 1 : 0,
      })),
    ),
  )
  set.replace('process_resident_memory_bytes', one(process.memoryUsage.rss()))
}

function certificatesOf({ identity, deliveries }: AgentStatus) {
  const seriesOf = (purpose: string, nome: string, notAfter: string | null) =>
    notAfter === null
      ? []
      : [{ labels: { purpose, nome }, value: new Date(notAfter).getTime() / 1000 }]
  return [
    ...(identity === null ? [] : seriesOf('identity', '', identity.not_after)),
    ...deliveries
      .filter(({ cancelled }) => !cancelled)
      .flatMap(({ name, not_after }) => seriesOf('delivery', name, not_after)),
  ]
}

function secondsOf(instant: Date | undefined): number | undefined {
  return instant === undefined ? undefined : instant.getTime() / 1000
}
