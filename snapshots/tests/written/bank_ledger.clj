; Running balance with reductions, stopping at the first overdraft.
(def txs [[:deposit 100] [:withdraw 30] [:deposit 50] [:withdraw 150] [:deposit 10]])

(defn apply-tx [balance [kind amount]]
  (let [f ({:deposit + :withdraw -} kind)]
    (f balance amount)))

(let [balances (reductions apply-tx 0 txs)
      safe     (reduce (fn [b tx]
                         (let [b' (apply-tx b tx)]
                           (if (neg? b') (reduced {:overdraft tx :at b}) b')))
                       0 txs)]
  {:balances balances
   :lowest (apply min balances)
   :result safe
   :totals (reduce (fn [m [k a]] (update m k (fnil + 0) a)) {} txs)})
