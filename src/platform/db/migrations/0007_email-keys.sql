ALTER TABLE `referrals` ADD `note` text;
--> statement-breakpoint
-- Of the accounts whose emails are one mailbox, the oldest gets its key. The others get a key that no email has, and
-- `shopstead health` reports them.
UPDATE `users` SET `email_key` = 'duplicate ' || `id` WHERE `id` IN (
	SELECT `id` FROM (
		SELECT `id`, row_number() OVER (PARTITION BY email_key(`email`) ORDER BY `id`) AS `place`
		FROM `users` WHERE `status` <> 'erased'
	) WHERE `place` > 1
);
--> statement-breakpoint
UPDATE `users` SET `email_key` = email_key(`email`)
WHERE `status` <> 'erased' AND `email_key` <> 'duplicate ' || `id` AND `email_key` <> email_key(`email`);
--> statement-breakpoint
UPDATE `orders` SET `email_key` = email_key(`email`)
WHERE `email` IS NOT NULL AND `email_key` IS NOT email_key(`email`);
--> statement-breakpoint
UPDATE `order_coupons` SET `customer_key` = 'email:' || email_key(substr(`customer_key`, 7))
WHERE `customer_key` LIKE 'email:%';
