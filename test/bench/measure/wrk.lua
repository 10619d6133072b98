-- The request that wrk sends. Arguments after `--`: method, body, and the milliseconds that a connection waits before each
-- request. `{n}` in the body is replaced by a number from 1 to 1000, in turn, and `{guest}` by a number that no other request
-- has. Each such request comes from another address. Prints one line of JSON at the end.

local method, template, pause

function init(args)
  method = args[1] or 'GET'
  template = args[2] or ''
  pause = tonumber(args[3] or '0')
  wrk.method = method
  if template ~= '' then wrk.body = template end
  if pause > 0 then
    function delay()
      return pause
    end
  end
  if template:find('{n}', 1, true) then
    -- Another block of addresses in each run.
    local count = (os.time() % 200) * 65536
    function request()
      count = count + 1
      wrk.headers['X-Forwarded-For'] =
        string.format('10.%d.%d.%d', math.floor(count / 65536) % 256, math.floor(count / 256) % 256, count % 256)
      local body = template:gsub('{n}', tostring(count % 1000 + 1)):gsub('{guest}', tostring(count))
      return wrk.format(nil, nil, nil, body)
    end
  end
end

function done(summary, latency)
  local failed = summary.errors
  io.write(
    string.format(
      '{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failures":%d}\n',
      summary.requests,
      summary.duration,
      latency:percentile(50),
      latency:percentile(99),
      failed.connect + failed.read + failed.write + failed.status + failed.timeout
    )
  )
end
