/** Does a job so many times, with so many of them under way at once; answers in the order of the numbers, from 0. */
export async function inLanes<Result>(
  { times, lanes }: { readonly times: number; readonly lanes: number },
  job: (number: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < times) {
      const number = next
      next += 1
      results[number] = await job(number)
    }
  }
  // All of them end before a failure is passed on: what they use is about to be taken away.
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane))
  const failed = ended.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results
}
