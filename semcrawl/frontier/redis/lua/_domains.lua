-- Pay-level domains whose hosts a take skips.

-- Whether a host is in one of the domains.
local function in_domains(host, domains)
  local name = string.gsub(host, ':%d+$', '')
  for _, domain in ipairs(domains) do
    if name == domain or string.sub(name, -#domain - 1) == '.' .. domain then return true end
  end
  return false
end

-- Whether links wait on hosts of other domains, without which no domain is skipped. A sample of the
-- hosts decides.
local function others_wait(domains)
  for _, queue in ipairs(all_queues()) do
    for _, host in ipairs(call('HRANDFIELD', ROOT .. 'hosts:' .. queue, '20')) do
      if not in_domains(host, domains) then return true end
    end
  end
  return false
end
